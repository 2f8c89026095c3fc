#include <leat/io/encoding.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>

using namespace leat::io;

TEST_CASE("every character in its one form is UTF-8, and its parts are not") {
  const auto encode = [](unsigned c) {
    std::string s;
    const auto put = [&](unsigned byte) { s += static_cast<char>(byte); };
    if (c < 0x80) put(c);
    else if (c < 0x800) put(0xc0 | c >> 6), put(0x80 | (c & 63));
    else if (c < 0x10000) put(0xe0 | c >> 12), put(0x80 | (c >> 6 & 63)), put(0x80 | (c & 63));
    else put(0xf0 | c >> 18), put(0x80 | (c >> 12 & 63)), put(0x80 | (c >> 6 & 63)), put(0x80 | (c & 63));
    return s;
  };
  int wrong = 0;
  for (unsigned c = 0; c <= 0x1fffff; c += c < 0x12000 ? 1 : 37) {
    const bool surrogate = c >= 0xd800 && c <= 0xdfff;
    const auto text = encode(c);
    wrong += is_utf8(text) != (!surrogate && c <= 0x10ffff);
    wrong += is_utf8("1234567" + text + "12345678") != is_utf8(text);
    for (std::size_t n = 1; n < text.size(); ++n) wrong += is_utf8(text.substr(0, n)) + is_utf8(text.substr(n));
  }
  CHECK(wrong == 0);
}

TEST_CASE("longer forms than needed, and bytes that begin nothing, are not UTF-8") {
  CHECK(is_utf8(""));
  CHECK(is_utf8(std::string_view("\0", 1)));
  for (auto wrong : {"\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xe0\x9f\xbf", "\xf0\x80\x80\x80", "\xf0\x8f\xbf\xbf",
                     "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xfe", "\x80", "12345678\xbf", "\xed\xa0\x80",
                     "\xc3(", "\xe2\x82(", "\xf8\x88\x80\x80\x80"})
    CHECK_FALSE(is_utf8(wrong));
}

TEST_CASE("base64 of RFC 4648, there and back") {
  const std::pair<std::string_view, std::string_view> pairs[]{{"", ""},
                                                              {"f", "Zg=="},
                                                              {"fo", "Zm8="},
                                                              {"foo", "Zm9v"},
                                                              {"foob", "Zm9vYg=="},
                                                              {"fooba", "Zm9vYmE="},
                                                              {"foobar", "Zm9vYmFy"},
                                                              {"\xff\xef\xbe", "/+++"}};
  for (const auto& [bytes, text] : pairs) {
    std::string out;
    append_base64(out, bytes);
    CHECK(out == text);
    CHECK(from_base64(text, out));
    CHECK(out == bytes);
    const auto unpadded = text.substr(0, text.find('='));
    CHECK(from_base64(unpadded, out));
    CHECK(out == bytes);
  }
  std::string out;
  CHECK(from_base64("_-0", out));
  CHECK(out == "\xff\xed");
  std::string all, text;
  for (int i = 0; i < 1000; ++i) all += static_cast<char>(i * 7);
  append_base64(text, all);
  CHECK(from_base64(text, out));
  CHECK(out == all);
}

TEST_CASE("what is not base64 is refused") {
  std::string out;
  for (auto wrong : {"A", "AAAAA", "A===", "AA=", "AAA==", "=", "==", "====", "AA==AA==", "A A=", "AAA\n", "AAA*",
                     "AB==", "AAB=", "AB", "AAAA=", "A=AA", "AA\xc3\xa9"})
    CHECK_FALSE(from_base64(wrong, out));
  CHECK_FALSE(from_base64(std::string_view("AA\0A", 4), out));
}
