// Operators on strings in graphs: values and errors are those of TensorFlow 2.21.

#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>

#include "support/messages.hpp"
#include "support/node_results.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

namespace text_operator_tests {

using namespace leat;
using namespace node_results;
using namespace std::string_literals;

namespace {

using strings = std::vector<std::string>;
using whole_list = std::vector<std::int64_t>;

tensor_value texts(const strings& list) { return tensor_value(list); }
tensor_value texts(const extents& of, const strings& list) { return tensor_value(list).reshaped(tensor_of(dtype::int32, of, {}).extent()); }
strings strings_of(const tensor_value& v) { return v.texts(); }
template <class Error = invalid_argument>
std::string refusal(std::string_view type, const std::vector<tensor_value>& arrays, const attribute_map& settings = {}) {
  return leat_test::message_of<Error>([&] { run_node(type, arrays, {}, settings); });
}
strings run_texts(std::string_view type, const std::vector<tensor_value>& arrays, const attribute_map& settings = {}) {
  return strings_of(run_node(type, arrays, {}, settings)[0]);
}
whole_list whole_of(const tensor_value& v) { return {v.values<std::int64_t>().begin(), v.values<std::int64_t>().end()}; }

}  // namespace

TEST_CASE("AsString: each dtype and format") {
  const auto as = [](tensor_value v, attribute_map settings = {}) { return run_texts("AsString", {std::move(v)}, settings); };
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinite = std::numeric_limits<float>::infinity();
  CHECK(as(std::vector<float>{3.14159f, -0.0f, infinite, 1e20f}) ==
        strings{"3.141590", "-0.000000", "inf", "100000002004087734272.000000"});
  CHECK(as(std::vector<float>{std::abs(nan)}) == strings{"nan"});
  CHECK(as(std::vector<double>{3.14159, 1e-7, 1e20}, {{"shortest", true}}) == strings{"3.14159", "1e-07", "1e+20"});
  CHECK(as(std::vector<float>{3.14159f}, {{"scientific", true}, {"precision", 2}}) == strings{"3.14e+00"});
  CHECK(as(std::vector<std::int32_t>{3, -4}, {{"width", 5}, {"fill", "0"s}}) == strings{"00003", "-0004"});
  CHECK(as(std::vector<std::int32_t>{3, -4}, {{"width", 5}, {"fill", "-"s}}) == strings{"3    ", "-4   "});
  CHECK(as(std::vector<std::int32_t>{3}, {{"width", 5}, {"fill", "+"s}}) == strings{"   +3"});
  CHECK(as(std::vector<std::int32_t>{3}, {{"width", 5}, {"fill", "#"s}}) == strings{"    3"});
  CHECK(as(std::vector<std::int32_t>{3}, {{"width", -7}, {"precision", -5}}) == strings{"3"});
  CHECK(as(std::vector<std::int64_t>{std::int64_t{1} << 62, INT64_MIN}) == strings{"4611686018427387904", "-9223372036854775808"});
  CHECK(as(std::vector<std::uint8_t>{200}, {{"width", 5}, {"fill", " "s}}) == strings{"  200"});
  tensor_value flags(dtype::boolean, {2});
  flags.values<bool>()[0] = true, flags.values<bool>()[1] = false;
  CHECK(as(flags, {{"width", 6}}) == strings{"true", "false"});
  CHECK(as(texts({"ab", "c"}), {{"width", 4}}) == strings{"  ab", "   c"});
  CHECK(as(texts({"x"}), {{"precision", 2}, {"shortest", true}, {"fill", "0"s}}) == strings{"x"});
  CHECK(as(tensor_value(std::vector<float>{})).empty());

  const tensor_value number(std::vector<std::int32_t>{3});
  const auto refuses = [](tensor_value v, const attribute_map& settings, std::string_view words) {
    CHECK(leat_test::says(refusal("AsString", {std::move(v)}, settings), words));
  };
  refuses(std::vector<float>{1}, {{"scientific", true}, {"shortest", true}}, "Cannot select both scientific and shortest notation");
  refuses(number, {{"precision", 2}}, "precision not supported for datatype int32");
  refuses(number, {{"shortest", true}}, "scientific and shortest format not supported for datatype int32");
  refuses(flags, {{"precision", 2}}, "precision not supported for datatype bool");
  refuses(number, {{"fill", "ab"s}}, "Fill string must be one or fewer characters");
  refuses(number, {{"fill", "x"s}}, "Fill argument not supported: \"x\"");
  refuses(number, {{"width", std::int64_t{1} << 62}}, "1024");
}

TEST_CASE("StringSplit and StringSplitV2") {
  struct split {
    whole_list indices;
    strings values;
    whole_list extent;
    bool operator==(const split&) const = default;
  };
  const auto run = [](const char* type, strings list, std::string by, const attribute_map& settings = {}) {
    const auto got = run_node(type, {texts(list), tensor_value(by)}, {}, settings);
    CHECK(got[0].extent()[1] == 2);
    return split{whole_of(got[0]), got[1].texts(), whole_of(got[2])};
  };
  const strings lines{"a b  c", "", "  d "};
  CHECK(run("StringSplit", lines, " ") == split{{0, 0, 0, 1, 0, 2, 2, 0}, {"a", "b", "c", "d"}, {3, 3}});
  CHECK(run("StringSplit", lines, " ", {{"skip_empty", false}}) ==
        split{{0, 0, 0, 1, 0, 2, 0, 3, 2, 0, 2, 1, 2, 2, 2, 3}, {"a", "b", "", "c", "", "", "d", ""}, {3, 4}});
  CHECK(run("StringSplit", {"a,b;c"}, ",;") == split{{0, 0, 0, 1, 0, 2}, {"a", "b", "c"}, {1, 3}});
  CHECK(run("StringSplit", {"abc", ""}, "", {{"skip_empty", false}}) == split{{0, 0, 0, 1, 0, 2}, {"a", "b", "c"}, {2, 3}});
  CHECK(run("StringSplit", {}, ",") == split{{}, {}, {0, 0}});
  CHECK(run("StringSplitV2", lines, "") == split{{0, 0, 0, 1, 0, 2, 2, 0}, {"a", "b", "c", "d"}, {3, 3}});
  CHECK(run("StringSplitV2", lines, " ") ==
        split{{0, 0, 0, 1, 0, 2, 0, 3, 1, 0, 2, 0, 2, 1, 2, 2, 2, 3}, {"a", "b", "", "c", "", "", "", "d", ""}, {3, 4}});
  CHECK(run("StringSplitV2", {"a<>b<><>c"}, "<>") == split{{0, 0, 0, 1, 0, 2, 0, 3}, {"a", "b", "", "c"}, {1, 4}});
  CHECK(run("StringSplitV2", {"a b  c d", "", " e f"}, "", {{"maxsplit", 1}}) ==
        split{{0, 0, 0, 1, 2, 0, 2, 1}, {"a", "b  c d", "e", "f"}, {3, 2}});
  CHECK(run("StringSplitV2", {"a,b,c,d"}, ",", {{"maxsplit", 2}}) == split{{0, 0, 0, 1, 0, 2}, {"a", "b", "c,d"}, {1, 3}});
  CHECK(run("StringSplitV2", {"a,b,c,d"}, ",", {{"maxsplit", 0}}) == split{{0, 0}, {"a,b,c,d"}, {1, 1}});
  CHECK(run("StringSplitV2", {" a  b  c "}, "", {{"maxsplit", 1}}) == split{{0, 0, 0, 1}, {"a", "b  c "}, {1, 2}});
  CHECK(run("StringSplitV2", {" a b c\x0b\x00"s + "d"}, "", {{"maxsplit", -5}}) ==
        split{{0, 0, 0, 1, 0, 2, 0, 3}, {"a", "b", "c", "\0d"s}, {1, 4}});
  CHECK(leat_test::says(refusal("StringSplit", {tensor_value("abc"), tensor_value("")}), "input must be a vector, got shape: []"));
  CHECK(leat_test::says(refusal("StringSplit", {texts({"a"}), texts({",", ";"})}), "delimiter must be a scalar, got shape: [2]"));
  CHECK(leat_test::says(refusal("StringSplitV2", {texts({"a"}), texts({","})}), "sep must be a scalar, got shape: [1]"));
}

TEST_CASE("lengths and parts of strings") {
  const attribute_map characters{{"unit", "UTF8_CHAR"s}};
  const auto length = [](strings list, const attribute_map& settings = {}) {
    return list_of(run_node("StringLength", {texts(list)}, {}, settings)[0]);
  };
  CHECK(length({"a\xc3\xb1", ""}, characters) == number_list{2, 0});
  CHECK(length({"a\xc3\xb1", "\0\0"s}) == number_list{3, 2});
  CHECK(length({"\xff\x80\x80"
                "a"},
               characters) == number_list{2});
  CHECK(leat_test::says(refusal("StringLength", {texts({"a"})}, {{"unit", "X"s}}), "Value for attr 'unit' of \"X\""));

  const auto part = [](tensor_value list, tensor_value from, tensor_value count, const attribute_map& settings = {}) {
    return run_texts("Substr", {std::move(list), std::move(from), std::move(count)}, settings);
  };
  const auto numbers = [](std::vector<std::int32_t> list) { return tensor_value(list); };
  const tensor_value one(std::int32_t{1}), three(std::int32_t{3});
  CHECK(part(texts({"hello", "w\xc3\xb6rld"}), one, three) == strings{"ell", "\xc3\xb6r"});
  CHECK(part(texts({"hello", "w\xc3\xb6rld"}), one, three, characters) == strings{"ell", "\xc3\xb6rl"});
  CHECK(part(texts({"hello", "world"}), numbers({-3, 4}), numbers({10, 1})) == strings{"llo", "d"});
  CHECK(part(texts({"hello"}), numbers({5}), numbers({1})) == strings{""});
  CHECK(part(texts({"hello"}), numbers({1}), numbers({-1})) == strings{"ello"});
  CHECK(part(tensor_value("hello"), numbers({1, 2}), numbers({1, 2})) == strings{"e", "ll"});
  CHECK(part(texts({"hello"}), numbers({1, 2, 3}), numbers({1, 1, 1})) == strings{"e", "l", "l"});
  CHECK(part(texts({"hello", "ab"}), tensor_of(dtype::int32, {2, 1}, {0, 1}), tensor_of(dtype::int32, {2, 1}, {1, 2})) ==
        strings{"h", "a", "el", "b"});
  CHECK(part(texts({"a\xc3\xb1"
                    "b"}),
             tensor_value(std::int64_t{-2}), tensor_value(std::int64_t{9}), characters) == strings{"\xc3\xb1"
                                                                                                   "b"});
  CHECK(part(texts({"hello"}), numbers({1}), numbers({-1}), characters) == strings{""});
  CHECK(part(texts({"a"}), tensor_value(std::int64_t{0}), tensor_value(INT64_MAX)) == strings{"a"});
  CHECK(part(texts(strings{}), numbers({1}), numbers({1})).empty());
  const auto refuses = [&](tensor_value list, tensor_value from, tensor_value count, std::string_view words) {
    CHECK(leat_test::says(refusal("Substr", {std::move(list), std::move(from), std::move(count)}), words));
  };
  refuses(texts({"hello", "wo"}), three, one, "pos 3 out of range for string b'wo' at index 1");
  refuses(texts({"hello"}), numbers({-6}), numbers({1}), "pos -6 out of range for string b'hello' at index 0");
  refuses(texts({"hello"}), tensor_value(INT64_MIN), tensor_value(INT64_MIN), "out of range");
  refuses(texts({"hello"}), numbers({1, 2}), numbers({1}), "pos and len should have the same shape, got: [2] vs. [1]");
  refuses(texts({"hello", "a", "b"}), numbers({1, 2}), numbers({1, 1}), "Incompatible shapes: [3] vs. [2]");
}

TEST_CASE("letters, spaces, joins") {
  CHECK(run_texts("StringLower", {texts({"AB\xc3\x87z["})}) == strings{"ab\xc3\x87z["});
  CHECK(run_texts("StringUpper", {texts({"ab\xc3\xa7{"})}, {{"encoding", ""s}}) == strings{"AB\xc3\xa7{"});
  CHECK(run_texts("StringUpper", {texts({"ab"})}, {{"encoding", "utf-8"s}}) == strings{"AB"});
  CHECK(leat_test::says(refusal<unimplemented>("StringUpper", {texts({"\xc3\xa7"})}, {{"encoding", "utf-8"s}}), "beyond ASCII"));
  CHECK(leat_test::says(refusal("StringLower", {texts({"A"})}, {{"encoding", "latin"s}}),
                        "only utf-8 or '' (no encoding) is supported, received latin"));
  CHECK(run_texts("StringStrip", {texts({" a b\t\n\x0b\x0c\r", "\0 a"s, " "})}) == strings{"a b", "\0 a"s, ""});

  const tensor_value square = texts({2, 2}, {"a", "b", "c", "d"});
  const auto join = [](tensor_value list, std::vector<std::int32_t> axes, const attribute_map& settings = {}) {
    return run_node("ReduceJoin", {std::move(list), tensor_value(axes)}, {}, settings)[0];
  };
  CHECK(strings_of(join(square, {0})) == strings{"ac", "bd"});
  CHECK(strings_of(join(square, {1}, {{"separator", "."s}})) == strings{"a.b", "c.d"});
  CHECK(join(square, {-1}, {{"keep_dims", true}}).extent() == tensor_of(dtype::int32, {2, 1}, {}).extent());
  // The axis that is named first is joined first.
  CHECK(strings_of(join(square, {0, 1})) == strings{"acbd"});
  CHECK(strings_of(join(square, {1, 0})) == strings{"abcd"});
  CHECK(strings_of(join(square, {-1, 0})) == strings{"abcd"});
  const tensor_value cube = texts({2, 2, 3}, {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"});
  CHECK(strings_of(join(cube, {0, 1})) == strings{"agdj", "bhek", "cifl"});
  CHECK(strings_of(join(cube, {2, 0})) == strings{"abcghi", "defjkl"});
  CHECK(strings_of(join(cube, {2, 1, 0})) == strings{"abcdefghijkl"});
  CHECK(strings_of(join(square, {})) == strings{"a", "b", "c", "d"});
  CHECK(strings_of(join(tensor_value("a"), {})) == strings{"a"});
  CHECK(strings_of(join(texts({2, 0}, {}), {1})) == strings{"", ""});
  CHECK(strings_of(join(texts({0, 2}, {}), {1})).empty());
  CHECK(leat_test::says(refusal<out_of_range>("ReduceJoin", {square, tensor_value(std::vector<std::int32_t>{2})}),
                        "Invalid reduction dimension 2 for input with 2 dimension(s)"));
  CHECK(
      leat_test::says(refusal("ReduceJoin", {square, tensor_value(std::vector<std::int32_t>{0, -2})}), "Duplicate reduction dimension -2"));
  graph g;
  const auto scope = g.as_default();
  const output known = placeholder(text_dtype, shape(2, {3, 4}));
  CHECK(call_operator(g, "ReduceJoin", {known, integers({-1}, {1})}, {{"keep_dims", true}}).result().extent() == shape(2, {3, 1}));
  CHECK(call_operator(g, "ReduceJoin", {known, integers({0}, {1})}).result().extent() == shape(1, {4}));
  CHECK(call_operator(g, "DecodeRaw", {known}, {{"out_type", dtype::uint8}}).result().extent() == shape(3, {3, 4, unknown_dimension}));
}

TEST_CASE("RegexReplace") {
  const auto replace = [](std::string text, std::string pattern, std::string rewrite, bool is_global = true) {
    const attribute_map settings{{"replace_global", is_global}};
    const std::string made = run_texts("RegexReplace", {texts({text}), tensor_value(pattern), tensor_value(rewrite)}, settings)[0];
    const attribute_map fixed{{"replace_global", is_global}, {"pattern", pattern}, {"rewrite", rewrite}};
    CHECK(run_texts("StaticRegexReplace", {texts({text})}, fixed)[0] == made);
    return made;
  };
  CHECK(replace("abcabc", "b", "[\\0]") == "a[b]ca[b]c");
  CHECK(replace("abcabc", "(a)(b)", "\\2\\1", false) == "bacabc");
  CHECK(replace("abc", "a*", "-") == "-b-c-");
  CHECK(replace("aaa", "a*", "-") == "-");
  CHECK(replace("aab", "a*?", "-") == "-a-a-b-");
  CHECK(replace("aab", "a+?", "-") == "--b");
  CHECK(replace("aab", "a", "\\1") == "aab");
  CHECK(replace("\xc3\xb1"
                "ab",
                "", "-") == "-\xc3\xb1-a-b-");
  CHECK(replace("foo bar  baz", "\\s+", " ") == "foo bar baz");
  CHECK(replace("aab", "a|ab", "-") == "--b");
  CHECK(replace("aab", "ab|a", "-") == "--");
  CHECK(replace("aab", "^a", "-") == "-ab");
  CHECK(replace("aab", "b$", "-") == "aa-");
  CHECK(replace("xaay", "(a|b)*", "<\\1>") == "<>x<a>y<>");
  CHECK(replace("aaaa", "a{2}", "b\\\\") == "b\\b\\");
  CHECK(replace("a1b22", "([a-z])([0-9]+)", "\\2\\1;") == "1a;22b;");
  CHECK(replace("aaaaa", "(a){2,3}?", "[\\1]") == "[a][a]a");
  CHECK(replace("aabb", "(a)(b)?", "<\\1|\\2>") == "<a|><a|b>b");
  CHECK(replace("", "a", "b").empty());
  CHECK(replace("a\0b"s, "b", "c") == "a\0c"s);
  CHECK(leat_test::says(refusal("RegexReplace", {texts({"a"}), tensor_value("("), tensor_value("")}), "a parenthesis that is not closed"));
  CHECK(leat_test::says(refusal("RegexReplace", {texts({"a"}), tensor_value("a"), tensor_value("\\x")}), "backslash"));
  CHECK(leat_test::says(refusal("RegexReplace", {texts({"a"}), tensor_value("a"), tensor_value("\\")}), "backslash"));
  CHECK(
      leat_test::says(refusal("RegexReplace", {texts({"a"}), texts({"a"}), tensor_value("")}), "Pattern must be scalar, but received [1]"));
  // a pattern that takes exponential time where ways are tried one after another
  CHECK(replace(std::string(2000, 'a'), "(a*)*b", "") == std::string(2000, 'a'));
}

TEST_CASE("StringToNumber") {
  const auto to = [](strings list, dtype type) { return run_node("StringToNumber", {texts(list)}, {}, {{"out_type", type}})[0]; };
  const double infinite = std::numeric_limits<double>::infinity();
  CHECK(list_of(to({"1.5", " 2 ", "-inf", "1e3", "0x10", "0x1p3", "1e39", "1e-50", "+5", ".5", "5."}, dtype::float32)) ==
        number_list{1.5, 2, -infinite, 1000, 16, 8, infinite, 0, 5, 0.5, 5});
  for (const char* text : {"nan", "NaN", "-nan"}) CHECK(std::isnan(list_of(to({text}, dtype::float32))[0]));
  CHECK(list_of(to({"infinity", "INF", "1e400", "1e-400", "-1e400", "1e39", "0.1"}, dtype::float64)) ==
        number_list{infinite, infinite, infinite, 0, -infinite, 1e39, 0.1});
  CHECK(list_of(to({"12", "-3", " 4", "+5", "-2147483648"}, dtype::int32)) == number_list{12, -3, 4, 5, -2147483648.0});
  CHECK(whole_of(to({"9223372036854775807", "-9223372036854775808"}, dtype::int64)) == whole_list{INT64_MAX, INT64_MIN});
  for (const auto& [text, type] : std::vector<std::pair<std::string, dtype>>{{"abc", dtype::float32},
                                                                             {"", dtype::float32},
                                                                             {"1_0", dtype::float32},
                                                                             {"1f", dtype::float32},
                                                                             {".", dtype::float32},
                                                                             {"1\0"s, dtype::float32},
                                                                             {"0x", dtype::float32},
                                                                             {"+-1", dtype::float64},
                                                                             {"1.5", dtype::int32},
                                                                             {"2147483648", dtype::int32},
                                                                             {"-2147483649", dtype::int32},
                                                                             {"9223372036854775808", dtype::int64},
                                                                             {"", dtype::int64}})
    CHECK(leat_test::says(refusal("StringToNumber", {texts({text})}, {{"out_type", type}}),
                          "StringToNumberOp could not correctly convert string: " + std::string(text.c_str())));
}

TEST_CASE("buckets of strings") {
  const strings list{"a",
                     "",
                     "hello world",
                     std::string(20, 'x'),
                     std::string(40, 'y'),
                     std::string(100, 'z'),
                     std::string(64, 'w'),
                     std::string(65, 'v'),
                     std::string(1000, 'q')};
  const attribute_map most{{"num_buckets", std::int64_t{1} << 62}};
  CHECK(whole_of(run_node("StringToHashBucketFast", {texts(list)}, {}, most)[0]) ==
        whole_list{3694432073954588131, 1936946117179621455, 1769834696496558107, 3621402210320469444, 276292113409495006,
                   4609163928736578169, 4555407945498560506, 978096718525207200, 4178784377876605292});
  CHECK(whole_of(
            run_node("StringToHashBucket", {texts({"a", "", "hello world", std::string(20, 'x'), std::string(40, 'y')})}, {}, most)[0]) ==
        whole_list{2996632905371535868, 105434511174508091, 936430787915428847, 2648813785153059629, 2760375234777655417});
}

TEST_CASE("base64 and the bytes of numbers") {
  CHECK(run_texts("EncodeBase64", {texts({"a", "ab", "abc", "", "\xff\xfe"})}) == strings{"YQ", "YWI", "YWJj", "", "__4"});
  CHECK(run_texts("EncodeBase64", {texts({"a", "ab"})}, {{"pad", true}}) == strings{"YQ==", "YWI="});
  CHECK(run_texts("DecodeBase64", {texts({"YQ", "YWI=", "__4", "", "YQ==", "YR"})}) == strings{"a", "ab", "\xff\xfe", "", "a", "a"});
  CHECK(leat_test::says(refusal("DecodeBase64", {texts({"Y"})}), "Base64 string length cannot be 1 modulo 4."));
  for (const char* text : {"Y+", "YQ=", "Y Q", "====", "YQ==YQ=="})
    CHECK(leat_test::says(refusal("DecodeBase64", {texts({text})}), "Invalid character found in base64."));

  const auto raw = [](tensor_value list, dtype type, bool is_little = true) {
    return run_node("DecodeRaw", {std::move(list)}, {}, {{"out_type", type}, {"little_endian", is_little}})[0];
  };
  CHECK(list_of(raw(texts({"abcd", "efgh"}), dtype::int32)) == number_list{1684234849, 1751606885});
  CHECK(list_of(raw(texts({"abcd", "efgh"}), dtype::int32, false)) == number_list{1633837924, 1701209960});
  CHECK(raw(texts({"abcd", "efgh"}), dtype::uint8).extent() == shape(2, {2, 4}));
  CHECK(raw(tensor_value("abcd"), dtype::float32).extent() == shape(1, {1}));
  CHECK(raw(texts(strings{}), dtype::int32).extent() == shape(2, {0, 0}));
  CHECK(raw(texts({""}), dtype::int64).extent() == shape(2, {1, 0}));
  const tensor_value flags = raw(texts({"\x02\x00\x01"s}), dtype::boolean);
  CHECK(std::vector<bool>(flags.values<bool>().begin(), flags.values<bool>().end()) == std::vector<bool>{true, false, true});
  CHECK(leat_test::says(refusal("DecodeRaw", {texts({"abcd", "efg"})}, {{"out_type", dtype::uint8}}),
                        "DecodeRaw requires input strings to all be the same size, but element 1 has size 4 != 3"));
  CHECK(leat_test::says(refusal("DecodeRaw", {texts({"abc"})}, {{"out_type", dtype::int32}}),
                        "Input to DecodeRaw has length 3 that is not a multiple of 4, the size of int32"));
}

TEST_CASE("DecodeCSV") {
  const tensor_value zero(std::vector<std::int32_t>{7}), text = texts({"z"}), fraction(std::vector<float>{9});
  const auto decode = [](tensor_value records, std::vector<tensor_value> defaults, const attribute_map& settings = {}) {
    defaults.insert(defaults.begin(), std::move(records));
    return run_node("DecodeCSV", defaults, {}, settings);
  };
  auto got = decode(texts({"1,2.5,a", "3,,b"}), {zero, fraction, text});
  CHECK(list_of(got[0]) == number_list{1, 3});
  CHECK(list_of(got[1]) == number_list{2.5, 9});
  CHECK(strings_of(got[2]) == strings{"a", "b"});
  const auto first_text = [&](std::string record, const attribute_map& settings = {}) {
    return strings_of(decode(texts({record}), {text, zero}, settings)[0])[0];
  };
  CHECK(first_text("\"a,b\",2") == "a,b");
  CHECK(first_text("\"a\"\"b\",2") == "a\"b");
  CHECK(first_text("\"a\nb\",2") == "a\nb");
  CHECK(first_text("a\"b,2", {{"use_quote_delim", false}}) == "a\"b");
  CHECK(first_text("NA;2", {{"na_value", "NA"s}, {"field_delim", ";"s}}) == "z");
  CHECK(list_of(decode(texts({" 1 ,\"2\""}), {zero, zero})[1]) == number_list{2});
  CHECK(strings_of(decode(texts({"a,"}), {text, text})[1]) == strings{"z"});
  CHECK(decode(tensor_value("1,2"), {zero, zero})[1].extent() == shape());
  CHECK(decode(texts({2, 1}, {"1,2", "3,4"}), {zero, tensor_value(std::int32_t{8})})[1].extent() == shape(2, {2, 1}));
  const attribute_map some{{"select_cols", std::vector<std::int64_t>{0, 2}}};
  CHECK(list_of(decode(texts({"1,2,3"}), {zero, zero}, some)[1]) == number_list{3});
  CHECK(decode(texts(strings{}), {zero})[0].elements() == 0);
  const auto refuses = [&](std::string record, std::vector<tensor_value> defaults, std::string_view words,
                           const attribute_map& settings = {}) {
    defaults.insert(defaults.begin(), texts({record}));
    CHECK(leat_test::says(refusal("DecodeCSV", defaults, settings), words));
  };
  refuses("1,2", {zero}, "Expect 1 fields but have 2 in record 0");
  refuses("1", {zero, zero}, "Expect 2 fields but have 1 in record 0");
  refuses("", {text}, "Expect 1 fields but have 0 in record 0");
  refuses("x,2", {zero, zero}, "Field 0 in record 0 is not a valid int32: x");
  refuses("99999999999,2", {zero, zero}, "Field 0 in record 0 is not a valid int32: 99999999999");
  refuses("1e,2", {fraction, zero}, "Field 0 in record 0 is not a valid float: 1e");
  refuses(",2", {tensor_value(std::vector<std::int32_t>{}), zero}, "Field 0 is required but missing in record 0!");
  refuses("\"a\"b,2", {text, zero}, "Quote inside a string has to be escaped by another quote");
  refuses("a\"b,2", {text, zero}, "Unquoted fields cannot have quotes/CRLFs inside");
  refuses("1,2\n", {zero, text}, "Unquoted fields cannot have quotes/CRLFs inside");
  refuses("\"ab,2", {text, zero}, "Quoted field has to end with quote followed by delim or end");
  refuses("1,\"", {zero, text}, "Quoted field has to end with quote followed by delim or end");
  refuses("1,2,3", {zero}, "select_cols should match output size", some);
  refuses("1,2,3", {zero, zero}, "Expect 2 fields but have 1 in record 0", {{"select_cols", std::vector<std::int64_t>{0, 5}}});
  refuses("1,2,3", {zero, zero}, "select_cols should be strictly increasing indices", {{"select_cols", std::vector<std::int64_t>{2, 0}}});
  refuses("1,2", {zero, zero}, "field_delim should be only 1 char", {{"field_delim", "::"s}});
  refuses("1,2", {tensor_value(std::vector<std::int32_t>{7, 8}), zero}, "There should only be 1 default per field but field 0 has 2");
  refuses("1,2", {tensor_of(dtype::int32, {1, 1}, {7}), zero}, "Each record default should be at most rank 1");
}

TEST_CASE("strings in operators whose classes move or compare elements") {
  const tensor_value six = texts({2, 3}, {"a", "bb", "", "d", "eeeeeeeeeeeeeeeeeeeeeeee", "f"});
  const auto counts = [](const number_list& list) { return tensor_of(dtype::int32, {static_cast<std::int64_t>(list.size())}, list); };
  const auto pairs = [](const number_list& list) { return tensor_of(dtype::int32, {static_cast<std::int64_t>(list.size() / 2), 2}, list); };
  CHECK(run_texts("Slice", {six, counts({0, 1}), counts({2, 2})}) == strings{"bb", "", "eeeeeeeeeeeeeeeeeeeeeeee", "f"});
  CHECK(run_texts("Transpose", {six, counts({1, 0})}) == strings{"a", "d", "bb", "eeeeeeeeeeeeeeeeeeeeeeee", "", "f"});
  CHECK(run_texts("Pad", {texts({"a", "b"}), pairs({1, 2})}) == strings{"", "a", "b", "", ""});
  CHECK(run_texts("BroadcastTo", {texts({2, 1}, {"a", "b"}), counts({2, 2})}) == strings{"a", "a", "b", "b"});
  tensor_value which(dtype::boolean, {2, 1});
  which.values<bool>()[0] = true;
  which.values<bool>()[1] = false;
  CHECK(run_texts("SelectV2", {which, texts({"a", "b"}), texts({1}, {"c"})}) == strings{"a", "b", "c", "c"});
  const auto flags = [&](std::string_view type, tensor_value a, tensor_value b) {
    const tensor_value got = run_node(type, {std::move(a), std::move(b)}, {}, {})[0];
    return std::vector<bool>(got.values<bool>().begin(), got.values<bool>().end());
  };
  CHECK(flags("Equal", texts({2, 1}, {"a", "b"}), texts({"b", "a"})) == std::vector<bool>{false, true, true, false});
  CHECK(flags("NotEqual", texts({"a", "b"}), texts({1}, {"a"})) == std::vector<bool>{false, true});
  CHECK(leat_test::says(refusal("Equal", {texts({"a", "b"}), texts({"a", "b", "c"})}), "Incompatible shapes: [2] vs. [3]"));
  // Without elements, and operators that compute with them.
  CHECK(run_texts("Slice", {six, counts({0, 1}), counts({0, 2})}).empty());
  CHECK(run_texts("BroadcastTo", {texts({1}, {"a"}), counts({0})}).empty());
  CHECK(leat_test::says(refusal("Neg", {six}), "string"));
}

}  // namespace text_operator_tests
