#include <leat/named/graph/kept_text.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace leat;

TEST_CASE("texts hold while others are kept, of any length") {
  text_store store;
  std::vector<std::string> wanted;
  std::vector<kept_text> kept;
  for (std::size_t length : {0u, 1u, 3u, 4u, 255u, 256u, 257u, 70000u})
    for (int k = 0; k < 40; ++k) {
      wanted.push_back(std::string(length, static_cast<char>('a' + k % 26)));
      kept.push_back(store.keep(wanted.back()));
    }
  bool equal = true;
  for (std::size_t i = 0; i < wanted.size(); ++i) equal = equal && kept[i] == wanted[i] && kept[i].size() == wanted[i].size();
  CHECK(equal);
}

TEST_CASE("a kept text is used as a string") {
  text_store store;
  const kept_text none, name = store.keep("a/b");
  CHECK(none.empty());
  CHECK(none.view().empty());
  CHECK(none == store.keep(""));
  CHECK(name == "a/b");
  CHECK(name != "a/B");
  CHECK("'" + name + "'" == "'a/b'");
  CHECK(name + std::string(":0") == "a/b:0");
  const std::string copy = name;
  CHECK(copy == "a/b");
  std::string text = "^";
  text += name;
  CHECK(text == "^a/b");
  text = name;
  CHECK(text == "a/b");
}
