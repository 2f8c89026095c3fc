#include <leat/core/error.hpp>
#include <leat/core/text_pattern.hpp>

#include "support/messages.hpp"

#include <doctest/doctest.h>

#include <string>

using leat::detail::text_pattern;
using leat_test::message_of;
using leat_test::says;

TEST_CASE("a pattern matches whole texts") {
  struct sample {
    const char *pattern, *text;
    bool matches;
  };
  const sample samples[]{
      {"^s3://.*", "s3://x", true},   {"^s3://.*", "/tmp/s3://x", false}, {"a*", "", true},         {"(a|b)*c", "ababc", true},
      {"(a|b)*c", "abab", false},     {"[a-c]{2,3}", "ab", true},         {"[a-c]{2,3}", "abca", false}, {"[^a]", "\xc3\xa9", true},
      {".", "\n", false},             {".", "\xe2\x82\xac", true},        {"\\d+\\.\\d*", "12.", true},  {"(?:x|)y", "y", true},
      {"a{0}b", "b", true},           {"x{2}", "xx", true},               {"x{2,}", "xxxxx", true},      {"x{2,}", "x", false},
      {"[]a]+", "]a", true},          {"[a-]", "-", true},                {"a|", "", true},              {"(a+)+$", "aaaa", true},
      {"{a", "{a", true},             {"\\w\\W\\s\\S", "a-\tb", true},    {"a?\?b", "ab", true},         {"\\Aab\\z", "ab", true},
      {"a^b", "ab", false},           {"(ab){2}", "abab", true},          {"(a|ab)(c|bcd)", "abcd", true}};
  for (const sample& s : samples) {
    CAPTURE(s.pattern);
    CAPTURE(s.text);
    CHECK(text_pattern(s.pattern).matches(s.text) == s.matches);
  }
  CHECK(text_pattern(std::string("a\0b", 3)).matches(std::string("a\0b", 3)));
}

TEST_CASE("patterns that make others slow take time in proportion to the text") {
  const std::string many(20'000, 'a');
  CHECK_FALSE(text_pattern("(a*)*b").matches(many));
  CHECK(text_pattern("(a|a)*").matches(many));
  CHECK(text_pattern("(((a*)*)*)*").matches(many));
}

TEST_CASE("malformed patterns are refused, with the place") {
  CHECK(says(message_of([] { text_pattern("(a"); }), "the pattern '(a', at 2: a parenthesis that is not closed"));
  CHECK(says(message_of([] { text_pattern("a)"); }), "a closing parenthesis without an opening one"));
  CHECK(says(message_of([] { text_pattern("[a"); }), "a bracket that is not closed"));
  CHECK(says(message_of([] { text_pattern("*a"); }), "a repetition of nothing"));
  CHECK(says(message_of([] { text_pattern("a{3,2}"); }), "upper limit is below"));
  CHECK(says(message_of([] { text_pattern("a{1001}"); }), "beyond 1000"));
  CHECK(says(message_of([] { text_pattern("[b-a]"); }), "ends before it begins"));
  CHECK_THROWS_AS(text_pattern("(?i)a"), leat::unimplemented);
  CHECK_THROWS_AS(text_pattern("\\1"), leat::unimplemented);
  CHECK_THROWS_AS(text_pattern("[[:alpha:]]"), leat::unimplemented);
  CHECK_THROWS_AS(text_pattern("(a{1000}){1000}"), leat::resource_exhausted);
  CHECK_THROWS_AS(text_pattern(std::string(100'000, '(')), leat::invalid_argument);
  CHECK_THROWS_AS(text_pattern(std::string(100'000, 'a')), leat::resource_exhausted);
}
