// Texts: summaries of arrays, n-grams, strings joined by segments, Unicode's encodings and a keyed hash with TensorFlow 2.21's values; and
// what is refused.

#include "support/recorded_nodes.hpp"

#include <cmath>
#include <string>

using namespace leat;
using namespace recorded_nodes;
using namespace std::string_literals;

namespace text_formats_test {

const std::vector<recorded>& recordings() {
  // clang-format off
  static const std::vector<recorded> list{
      {"StringFormat", {f32({2, 3}, {1.5, -2, 3, 4, 5, 6}), i32({}, {7})}, {{"template", "a %s b %s"}, {"placeholder", "%s"}}, {text({},
       {"a [[1.5 -2 3]\n [4 5 6]] b 7"})}},
      {"StringFormat", {i64({10}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9})}, {{"template", "{}"}, {"placeholder", "{}"}}, {text({},
       {"[0 1 2 ... 7 8 9]"})}},
      {"StringFormat", {i64({10}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9})}, {{"template", "{}"}, {"placeholder", "{}"}, {"summarize",
       std::int64_t{-1}}}, {text({}, {"[0 1 2 3 4 5 6 7 8 9]"})}},
      {"StringFormat", {f32({2, 3, 4}, {0, 0.33333334, 0.6666667, 1, 1.3333334, 1.6666666, 2, 2.3333333, 2.6666667, 3, 3.3333333,
       3.6666667, 4, 4.3333335, 4.6666665, 5, 5.3333335, 5.6666665, 6, 6.3333335, 6.6666665, 7, 7.3333335, 7.6666665})}, {{"template",
       "x {} y"}, {"placeholder", "{}"}, {"summarize", std::int64_t{2}}}, {text({},
       {"x [[[0 0.333333343 0.666666687 1]\n  [1.33333337 1.66666663 2 2.33333325]\n  [2.66666675 3 3.333"
       "33325 3.66666675]]\n\n [[4 4.33333349 4.66666651 5]\n  [5.33333349 5.66666651 6 6.33333349]\n  ["
       "6.66666651 7 7.33333349 7.66666651]]] y"})}},
      {"StringFormat", {f64({2, 3, 4}, {0, 0.3333333333333333, 0.6666666666666666, 1, 1.3333333333333333, 1.6666666666666667, 2,
       2.3333333333333335, 2.6666666666666665, 3, 3.3333333333333335, 3.6666666666666665, 4, 4.333333333333333, 4.666666666666667, 5,
       5.333333333333333, 5.666666666666667, 6, 6.333333333333333, 6.666666666666667, 7, 7.333333333333333, 7.666666666666667})},
       {{"template", "x {} y"}, {"placeholder", "{}"}, {"summarize", std::int64_t{1}}}, {text({},
       {"x [[[0 ... 1]\n  ...\n  [2.6666666666666665 ... 3.6666666666666665]]\n\n [[4 ... 5]\n  ...\n  [6"
       ".666666666666667 ... 7.666666666666667]]] y"})}},
      {"StringFormat", {text({2}, {"ab", "c\"d\n\377"}), flags({2}, {1, 0})}, {{"template", "{} {}"}, {"placeholder", "{}"}}, {text({},
       {"[\"ab\" \"c\\\"d\\n\377\"] [1 0]"})}},
      {"StringFormat", {text({}, {"ab"})}, {{"template", "<{}>"}, {"placeholder", "{}"}}, {text({}, {"<\"ab\">"})}},
      {"StringFormat", {f32({0}, {})}, {{"template", "{}"}, {"placeholder", "{}"}}, {text({}, {"[]"})}},
      {"StringFormat", {f32({2, 0, 3}, {})}, {{"template", "{}"}, {"placeholder", "{}"}}, {text({}, {"[\n\n ...]"})}},
      {"StringFormat", {u8({1, 8}, {1, 2, 3, 4, 5, 6, 7, 8})}, {{"template", "{}"}, {"placeholder", "{}"}, {"summarize",
       std::int64_t{3}}}, {text({}, {"[[1 2 3 ... 6 7 8]]"})}},
      {"StringFormat", {f32({8}, {1e+10, 1e-07, 123456.79, 1234567, 0.1, NAN, INFINITY, -INFINITY})}, {{"template", "{}"}, {"placeholder",
       "{}"}, {"summarize", std::int64_t{-1}}}, {text({}, {"[1e+10 1e-07 123456.789 1234567 0.1 nan inf -inf]"})}},
      {"StringFormat", {f64({5}, {1e+10, 1e-07, 123456.789, 1234567, 0.3333333333333333})}, {{"template", "{}"}, {"placeholder", "{}"},
       {"summarize", std::int64_t{-1}}}, {text({}, {"[10000000000 1e-07 123456.789 1234567 0.33333333333333331]"})}},
      {"StringFormat", {}, {{"template", "none"}}, {text({}, {"none"})}},
      {"StringFormat", {i32({10, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19})}, {{"template", "{}"},
       {"placeholder", "{}"}, {"summarize", std::int64_t{0}}}, {text({}, {"[\n ...]"})}},
      {"StringFormat", {i32({10, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19})}, {{"template", "{}"},
       {"placeholder", "{}"}, {"summarize", std::int64_t{-2}}}, {text({},
       {"[[0 1]\n [2 3]\n [4 5]\n [6 7]\n [8 9]\n [10 11]\n [12 13]\n [14 15]\n [16 17]\n [18 19]]"})}},
      {"StringNGrams", {text({5}, {"a", "b", "c", "d", "e"}), i64({3}, {0, 3, 5})}, {{"separator", "|"}, {"ngram_widths",
       std::vector<std::int64_t>{1, 2, 3}}, {"left_pad", "LP"}, {"right_pad", "RP"}, {"pad_width", std::int64_t{-1}},
       {"preserve_short_sequences", false}}, {text({21}, {"a", "b", "c", "LP|a", "a|b", "b|c", "c|RP", "LP|LP|a", "LP|a|b", "a|b|c",
       "b|c|RP", "c|RP|RP", "d", "e", "LP|d", "d|e", "e|RP", "LP|LP|d", "LP|d|e", "d|e|RP", "e|RP|RP"}), i64({3}, {0, 12, 21})}},
      {"StringNGrams", {text({5}, {"a", "b", "c", "d", "e"}), i32({4}, {0, 3, 3, 5})}, {{"separator", ""}, {"ngram_widths",
       std::vector<std::int64_t>{2, 4}}, {"left_pad", "<"}, {"right_pad", ""}, {"pad_width", std::int64_t{1}},
       {"preserve_short_sequences", false}}, {text({11}, {"<a", "ab", "bc", "c", "<abc", "abc", "<", "<d", "de", "e", "<de"}), i32({4},
       {0, 6, 7, 11})}},
      {"StringNGrams", {text({5}, {"a", "b", "c", "d", "e"}), i64({4}, {0, 4, 4, 5})}, {{"separator", "-"}, {"ngram_widths",
       std::vector<std::int64_t>{3}}, {"left_pad", ""}, {"right_pad", ""}, {"pad_width", std::int64_t{0}}, {"preserve_short_sequences",
       true}}, {text({3}, {"a-b-c", "b-c-d", "e"}), i64({4}, {0, 2, 2, 3})}},
      {"StringNGrams", {text({5}, {"a", "b", "c", "d", "e"}), i64({3}, {0, 1, 5})}, {{"separator", "-"}, {"ngram_widths",
       std::vector<std::int64_t>{3, 2}}, {"left_pad", ""}, {"right_pad", "R"}, {"pad_width", std::int64_t{2}},
       {"preserve_short_sequences", true}}, {text({16}, {"--a", "-a-R", "a-R-R", "-a", "a-R", "--b", "-b-c", "b-c-d", "c-d-e", "d-e-R",
       "e-R-R", "-b", "b-c", "c-d", "d-e", "e-R"}), i64({3}, {0, 5, 16})}},
      {"StringNGrams", {text({1}, {"a"}), i64({0}, {})}, {{"separator", "-"}, {"ngram_widths", std::vector<std::int64_t>{3, 2}},
       {"left_pad", ""}, {"right_pad", "R"}, {"pad_width", std::int64_t{2}}, {"preserve_short_sequences", true}}, {text({1}, {""}),
       i64({0}, {})}},
      {"UnsortedSegmentJoin", {text({3, 2}, {"a", "b", "c", "d", "e", "f"}), i32({3}, {1, 0, 1}), i32({}, {3})}, {{"separator", ":"}},
       {text({3, 2}, {"c", "d", "a:e", "b:f", "", ""})}},
      {"UnsortedSegmentJoin", {text({2, 2}, {"a", "b", "c", "d"}), i64({2, 2}, {1, 0, 1, 0}), i64({}, {2})}, {{"separator", ""}},
       {text({2}, {"bd", "ac"})}},
      {"UnicodeTranscode", {text({14}, {"hi", "\303\251\342\202\254\360\237\230\200", "a\377b\303", "\342\202", "\355\240\200x",
       "\300\200y", "\364\220\200\200z", "a\001\177\nb", "", "\360\237\230", "\340\200\200", "\376", "\357\273\277q", "\357\277\275"})},
       {{"input_encoding", "UTF-8"}, {"output_encoding", "UTF-8"}, {"errors", "replace"}, {"replace_control_characters", true}},
       {text({14}, {"hi", "\303\251\342\202\254\360\237\230\200", "a\357\277\275b\357\277\275", "\357\277\275",
       "\357\277\275\357\277\275\357\277\275x", "\357\277\275\357\277\275y", "\357\277\275\357\277\275\357\277\275\357\277\275z",
       "a\357\277\275\177\357\277\275b", "", "\357\277\275", "\357\277\275\357\277\275\357\277\275", "\357\277\275", "\357\273\277q",
       "\357\277\275"})}},
      {"UnicodeDecodeWithOffsets", {text({14}, {"hi", "\303\251\342\202\254\360\237\230\200", "a\377b\303", "\342\202", "\355\240\200x",
       "\300\200y", "\364\220\200\200z", "a\001\177\nb", "", "\360\237\230", "\340\200\200", "\376", "\357\273\277q", "\357\277\275"})},
       {{"input_encoding", "UTF-8"}, {"errors", "replace"}, {"replacement_char", std::int64_t{42}}}, {i64({15}, {0, 2, 5, 9, 10, 14, 17,
       22, 27, 27, 28, 31, 32, 34, 35}), i32({35}, {104, 105, 233, 8364, 128512, 97, 42, 98, 42, 42, 42, 42, 42, 120, 42, 42, 121, 42, 42,
       42, 42, 122, 97, 1, 127, 10, 98, 42, 42, 42, 42, 42, 65279, 113, 65533}), i64({35}, {0, 1, 0, 2, 5, 0, 1, 2, 3, 0, 0, 1, 2, 3, 0,
       1, 2, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 0, 1, 2, 0, 0, 3, 0})}},
      {"UnicodeTranscode", {text({8}, {"\000h\000i"s, "\000\351 \254\330=\336\000"s, "\000a\330\000\000b"s, "\000a\334\000\000b"s,
       "\000a\000"s, "\330=", "\376\377\000a"s, ""})}, {{"input_encoding", "UTF-16-BE"}, {"output_encoding", "UTF-8"}, {"errors",
       "replace"}, {"replace_control_characters", false}}, {text({8}, {"hi", "\303\251\342\202\254\360\237\230\200", "a\357\277\275b",
       "a\357\277\275b", "a\357\277\275", "\357\277\275", "\357\273\277a", ""})}},
      {"UnicodeDecodeWithOffsets", {text({8}, {"\000h\000i"s, "\000\351 \254\330=\336\000"s, "\000a\330\000\000b"s, "\000a\334\000\000b"s,
       "\000a\000"s, "\330=", "\376\377\000a"s, ""})}, {{"input_encoding", "UTF-16-BE"}, {"errors", "replace"}, {"replacement_char",
       std::int64_t{65533}}}, {i64({9}, {0, 2, 5, 8, 11, 13, 14, 16, 16}), i32({16}, {104, 105, 233, 8364, 128512, 97, 65533, 98, 97,
       65533, 98, 97, 65533, 65533, 65279, 97}), i64({16}, {0, 2, 0, 2, 4, 0, 2, 4, 0, 2, 4, 0, 2, 0, 0, 2})}},
      {"UnicodeTranscode", {text({6}, {"\000\000\000h\000\000\000i\000\000 \254\000\001\366\000"s, "\000\000\330\000\000\000\000a"s,
       "\000\021\000\000\000\000\000a"s, "\000\000\000a\000\000"s, "\377\377\377\377", ""})}, {{"input_encoding", "UTF-32-BE"},
       {"output_encoding", "UTF-8"}, {"errors", "replace"}, {"replace_control_characters", false}}, {text({6},
       {"hi\342\202\254\360\237\230\200", "\357\277\275a", "\357\277\275a", "a\357\277\275", "\357\277\275", ""})}},
      {"UnicodeDecodeWithOffsets", {text({6}, {"\000\000\000h\000\000\000i\000\000 \254\000\001\366\000"s,
       "\000\000\330\000\000\000\000a"s, "\000\021\000\000\000\000\000a"s, "\000\000\000a\000\000"s, "\377\377\377\377", ""})},
       {{"input_encoding", "UTF-32-BE"}, {"errors", "replace"}, {"replacement_char", std::int64_t{65533}}}, {i64({7}, {0, 4, 6, 8, 10, 11,
       11}), i32({11}, {104, 105, 8364, 128512, 65533, 97, 65533, 97, 97, 65533, 65533}), i64({11}, {0, 4, 8, 12, 0, 4, 0, 4, 0, 4, 0})}},
      {"UnicodeTranscode", {text({2}, {"hi", "\303\251\342\202\254\360\237\230\200"})}, {{"input_encoding", "UTF-8"}, {"output_encoding",
       "UTF-16-BE"}, {"errors", "replace"}}, {text({2}, {"\000h\000i"s, "\000\351 \254\330=\336\000"s})}},
      {"UnicodeTranscode", {text({2}, {"hi", "\303\251\342\202\254\360\237\230\200"})}, {{"input_encoding", "UTF-8"}, {"output_encoding",
       "UTF-32-BE"}, {"errors", "replace"}}, {text({2}, {"\000\000\000h\000\000\000i"s,
       "\000\000\000\351\000\000 \254\000\001\366\000"s})}},
      {"UnicodeTranscode", {text({14}, {"hi", "\303\251\342\202\254\360\237\230\200", "a\377b\303", "\342\202", "\355\240\200x",
       "\300\200y", "\364\220\200\200z", "a\001\177\nb", "", "\360\237\230", "\340\200\200", "\376", "\357\273\277q", "\357\277\275"})},
       {{"input_encoding", "UTF-8"}, {"output_encoding", "UTF-8"}, {"errors", "ignore"}, {"replace_control_characters", false}},
       {text({14}, {"hi", "\303\251\342\202\254\360\237\230\200", "ab", "", "x", "y", "z", "a\001\177\nb", "", "", "", "",
       "\357\273\277q", "\357\277\275"})}},
      {"UnicodeDecodeWithOffsets", {text({14}, {"hi", "\303\251\342\202\254\360\237\230\200", "a\377b\303", "\342\202", "\355\240\200x",
       "\300\200y", "\364\220\200\200z", "a\001\177\nb", "", "\360\237\230", "\340\200\200", "\376", "\357\273\277q", "\357\277\275"})},
       {{"input_encoding", "UTF-8"}, {"errors", "ignore"}, {"replacement_char", std::int64_t{42}}}, {i64({15}, {0, 2, 5, 7, 7, 8, 9, 10,
       15, 15, 15, 15, 15, 17, 18}), i32({18}, {104, 105, 233, 8364, 128512, 97, 98, 120, 121, 122, 97, 1, 127, 10, 98, 65279, 113,
       65533}), i64({18}, {0, 1, 0, 2, 5, 0, 2, 3, 2, 4, 0, 1, 2, 3, 4, 0, 3, 0})}},
      {"UnicodeTranscode", {text({8}, {"\000h\000i"s, "\000\351 \254\330=\336\000"s, "\000a\330\000\000b"s, "\000a\334\000\000b"s,
       "\000a\000"s, "\330=", "\376\377\000a"s, ""})}, {{"input_encoding", "UTF-16-BE"}, {"output_encoding", "UTF-8"}, {"errors",
       "ignore"}, {"replace_control_characters", false}}, {text({8}, {"hi", "\303\251\342\202\254\360\237\230\200", "ab", "ab", "a", "",
       "\357\273\277a", ""})}},
      {"UnicodeDecodeWithOffsets", {text({8}, {"\000h\000i"s, "\000\351 \254\330=\336\000"s, "\000a\330\000\000b"s, "\000a\334\000\000b"s,
       "\000a\000"s, "\330=", "\376\377\000a"s, ""})}, {{"input_encoding", "UTF-16-BE"}, {"errors", "ignore"}, {"replacement_char",
       std::int64_t{65533}}}, {i64({9}, {0, 2, 5, 7, 9, 10, 10, 12, 12}), i32({12}, {104, 105, 233, 8364, 128512, 97, 98, 97, 98, 97,
       65279, 97}), i64({12}, {0, 2, 0, 2, 4, 0, 4, 0, 4, 0, 0, 2})}},
      {"UnicodeTranscode", {text({6}, {"\000\000\000h\000\000\000i\000\000 \254\000\001\366\000"s, "\000\000\330\000\000\000\000a"s,
       "\000\021\000\000\000\000\000a"s, "\000\000\000a\000\000"s, "\377\377\377\377", ""})}, {{"input_encoding", "UTF-32-BE"},
       {"output_encoding", "UTF-8"}, {"errors", "ignore"}, {"replace_control_characters", false}}, {text({6},
       {"hi\342\202\254\360\237\230\200", "a", "a", "a", "", ""})}},
      {"UnicodeDecodeWithOffsets", {text({6}, {"\000\000\000h\000\000\000i\000\000 \254\000\001\366\000"s,
       "\000\000\330\000\000\000\000a"s, "\000\021\000\000\000\000\000a"s, "\000\000\000a\000\000"s, "\377\377\377\377", ""})},
       {{"input_encoding", "UTF-32-BE"}, {"errors", "ignore"}, {"replacement_char", std::int64_t{65533}}}, {i64({7}, {0, 4, 5, 6, 7, 7,
       7}), i32({7}, {104, 105, 8364, 128512, 97, 97, 97}), i64({7}, {0, 4, 8, 12, 4, 4, 0})}},
      {"UnicodeTranscode", {text({2}, {"hi", "\303\251\342\202\254\360\237\230\200"})}, {{"input_encoding", "UTF-8"}, {"output_encoding",
       "UTF-16-BE"}, {"errors", "ignore"}}, {text({2}, {"\000h\000i"s, "\000\351 \254\330=\336\000"s})}},
      {"UnicodeTranscode", {text({2}, {"hi", "\303\251\342\202\254\360\237\230\200"})}, {{"input_encoding", "UTF-8"}, {"output_encoding",
       "UTF-32-BE"}, {"errors", "ignore"}}, {text({2}, {"\000\000\000h\000\000\000i"s,
       "\000\000\000\351\000\000 \254\000\001\366\000"s})}},
      {"UnicodeDecode", {text({4}, {"hi", "\303\251\342\202\254\360\237\230\200", "a\377b\303", "\342\202"})}, {{"input_encoding",
       "UTF-8"}, {"Tsplits", dtype::int32}, {"replace_control_characters", true}}, {i32({5}, {0, 2, 5, 9, 10}), i32({10}, {104, 105, 233,
       8364, 128512, 97, 65533, 98, 65533, 65533})}},
      {"UnicodeDecode", {text({2, 2}, {"ab", "c", "", "d"})}, {{"input_encoding", "utf-8"}}, {i64({5}, {0, 2, 3, 3, 4}), i32({4}, {97, 98,
       99, 100})}},
      {"UnicodeTranscode", {text({1}, {"a\351\200"})}, {{"input_encoding", "ISO-8859-1"}, {"output_encoding", "UTF-8"}}, {text({1},
       {"a\303\251\302\200"})}},
      {"UnicodeTranscode", {text({1}, {"a\351\200"})}, {{"input_encoding", "US-ASCII"}, {"output_encoding", "UTF-8"}}, {text({1},
       {"a\357\277\275\357\277\275"})}},
      {"UnicodeEncode", {i32({9}, {104, 233, 8364, 128512, 55296, 1114112, -1, 0, 65}), i64({5}, {0, 2, 2, 7, 9})}, {{"output_encoding",
       "UTF-8"}, {"errors", "replace"}, {"replacement_char", std::int64_t{63}}}, {text({4}, {"h\303\251", "",
       "\342\202\254\360\237\230\200\077\077\077", "\000A"s})}},
      {"UnicodeEncode", {i32({9}, {104, 233, 8364, 128512, 55296, 1114112, -1, 0, 65}), i64({5}, {0, 2, 2, 7, 9})}, {{"output_encoding",
       "UTF-8"}, {"errors", "ignore"}, {"replacement_char", std::int64_t{63}}}, {text({4}, {"h\303\251", "",
       "\342\202\254\360\237\230\200", "\000A"s})}},
      {"UnicodeEncode", {i32({9}, {104, 233, 8364, 128512, 55296, 1114112, -1, 0, 65}), i64({5}, {0, 2, 2, 7, 9})}, {{"output_encoding",
       "UTF-16-BE"}, {"errors", "replace"}, {"replacement_char", std::int64_t{65533}}}, {text({4}, {"\000h\000\351"s, "",
       " \254\330=\336\000\377\375\377\375\377\375"s, "\000\000\000A"s})}},
      {"UnicodeEncode", {i32({9}, {104, 233, 8364, 128512, 55296, 1114112, -1, 0, 65}), i64({5}, {0, 2, 2, 7, 9})}, {{"output_encoding",
       "UTF-16-BE"}, {"errors", "ignore"}, {"replacement_char", std::int64_t{65533}}}, {text({4}, {"\000h\000\351"s, "",
       " \254\330=\336\000"s, "\000\000\000A"s})}},
      {"UnicodeEncode", {i32({9}, {104, 233, 8364, 128512, 55296, 1114112, -1, 0, 65}), i64({5}, {0, 2, 2, 7, 9})}, {{"output_encoding",
       "UTF-32-BE"}, {"errors", "replace"}, {"replacement_char", std::int64_t{65533}}}, {text({4}, {"\000\000\000h\000\000\000\351"s, "",
       "\000\000 \254\000\001\366\000\000\000\377\375\000\000\377\375\000\000\377\375"s, "\000\000\000\000\000\000\000A"s})}},
      {"UnicodeEncode", {i32({9}, {104, 233, 8364, 128512, 55296, 1114112, -1, 0, 65}), i64({5}, {0, 2, 2, 7, 9})}, {{"output_encoding",
       "UTF-32-BE"}, {"errors", "ignore"}, {"replacement_char", std::int64_t{65533}}}, {text({4}, {"\000\000\000h\000\000\000\351"s, "",
       "\000\000 \254\000\001\366\000"s, "\000\000\000\000\000\000\000A"s})}},
      {"StringToHashBucketStrong", {text({5}, {"", "a", "hello", "0123456789abcdef", "0123456789abcdefX"})}, {{"num_buckets",
       std::int64_t{2147483647}}, {"key", std::vector<std::int64_t>{123, 456}}}, {i64({5}, {935507912, 1028093064, 1621747169, 2139736447,
       1933510582})}},
      {"StringToHashBucketStrong", {text({1, 1}, {"x"})}, {{"num_buckets", std::int64_t{10}}, {"key", std::vector<std::int64_t>{-1,
       98765}}}, {i64({1, 1}, {9})}},
      {"StringFormat", {f32({}, {1.5})}, {{"template", "{}"}, {"placeholder", "{}"}, {"summarize", std::int64_t{0}}}, {text({}, {"..."})}},
      {"StringFormat", {text({1}, {"a'\t\001\177\\"})}, {{"template", "{}"}, {"placeholder", "{}"}},
       {text({}, {"[\"a\\'\\t\\001\\177\\\\\"]"})}},
      {"UnicodeDecodeWithOffsets", {text({3}, {"\330=\336", "\330=\330=\336\000"s, "\000"s})}, {{"input_encoding", "UTF-16-BE"}},
       {i64({4}, {0, 1, 3, 4}), i32({4}, {65533, 65533, 128512, 65533}), i64({4}, {0, 0, 2, 0})}},
      {"UnicodeTranscode", {text({1}, {"ab\000c"s})}, {{"input_encoding", "UTF-16LE"}, {"output_encoding", "UTF-8"}},
       {text({1}, {"\346\211\241\346\214\200"})}},
      {"UnicodeTranscode", {text({1}, {"a\001"})}, {{"input_encoding", "UTF-8"}, {"output_encoding", "UTF-8"}, {"errors", "ignore"},
       {"replace_control_characters", true}}, {text({1}, {"a"})}},
  };
  // clang-format on
  return list;
}

TEST_CASE("texts are made as in TensorFlow") { check_recorded(recordings()); }

TEST_CASE("each code point comes back from each encoding") {
  std::vector<std::int32_t> codes;
  for (std::int32_t code = 0; code <= 0x10ffff; code += code < 0x900 ? 1 : 251)
    if (code < 0xd800 || code > 0xdfff) codes.push_back(code);
  for (const std::int32_t edge : {0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff}) codes.push_back(edge);
  const auto count = static_cast<std::int64_t>(codes.size());
  for (const char* encoding : {"UTF-8", "UTF-16-BE", "UTF-32-BE"}) {
    const auto made =
        run_on("UnicodeEncode", {i32({count}, codes), i64({2}, {0, count})}, {{"output_encoding", encoding}, {"errors", "strict"}})[0];
    const auto back = run_on("UnicodeDecode", {made}, {{"input_encoding", encoding}, {"errors", "strict"}});
    CHECK(back[1].as<std::vector<std::int32_t>>() == codes);
  }
}

TEST_CASE("n-grams and joined strings take no more memory than the session may") {
  session_options small;
  small.memory_limit_in_bytes = 1 << 20;
  const auto exhausts = [&](std::string_view type, const std::vector<tensor_value>& inputs, const attribute_map& settings) {
    return leat_test::says(leat_test::message_of<resource_exhausted>([&] { run_on(type, inputs, settings, false, small); }),
                           "memory_limit_in_bytes");
  };
  const attribute_map runs{{"separator", "-"},
                           {"ngram_widths", std::vector<std::int64_t>{5000000}},
                           {"left_pad", "left"},
                           {"right_pad", "right"},
                           {"pad_width", std::int64_t{-1}},
                           {"preserve_short_sequences", false}};
  CHECK(exhausts("StringNGrams", {text({1}, {"a"}), i64({2}, {0, 1})}, runs));
  attribute_map one = runs;
  one["ngram_widths"] = std::vector<std::int64_t>{1};
  CHECK(run_on("StringNGrams", {text({1}, {"a"}), i64({2}, {0, 1})}, one, false, small)[0].texts()[0] == "a");
  CHECK(exhausts("UnsortedSegmentJoin", {text({1}, {"a"}), i32({1}, {0}), i32({}, {INT32_MAX})}, {}));
  CHECK(exhausts("UnsortedSegmentJoin",
                 {text({2000}, std::vector<std::string>(2000, "a")), i32({2000}, std::vector<std::int32_t>(2000)), i32({}, {1})},
                 {{"separator", std::string(2000, '-')}}));
}

TEST_CASE("texts of wrong shapes and settings are refused") {
  CHECK(refuses("StringFormat", {i32({}, {1})}, {{"template", "a"}}, "num placeholders in template and num inputs must match: 0 vs. 1"));
  CHECK(refuses("StringFormat", {i32({}, {1})}, {{"template", "%s %s"}}, "must match: 2 vs. 1"));
  CHECK(refuses("StringFormat", {i32({}, {1})}, {{"template", "%s"}, {"placeholder", ""}}, "must match: 0 vs. 1"));

  const auto ngrams = [](std::vector<std::int64_t> widths, std::int64_t pad = 0, bool keeps = false) {
    return attribute_map{{"separator", ""},  {"ngram_widths", std::move(widths)}, {"left_pad", ""},
                         {"right_pad", ""},  {"pad_width", pad},                  {"preserve_short_sequences", keeps}};
  };
  const auto two = text({2}, {"a", "b"});
  CHECK(refuses("StringNGrams", {two, i64({2}, {0, 3})}, ngrams({1}), "Invalid split value 3, must be in [0, 2]"));
  CHECK(refuses("StringNGrams", {two, i64({3}, {0, 2, 1})}, ngrams({1}), "Invalid split value 1, must be in [2, 2]"));
  CHECK(refuses("StringNGrams", {two, i64({2}, {1, 2})}, ngrams({1}), "First split value must be 0, got 1"));
  CHECK(refuses("StringNGrams", {two, i64({2}, {0, 1})}, ngrams({1}), "Last split value must be data size. Expected 2, got 1"));
  CHECK(refuses("StringNGrams", {two, i64({2}, {0, 2})}, ngrams({0}), "ngram_widths must contain positive values"));
  CHECK(refuses("StringNGrams", {two, i64({2}, {0, 2})}, ngrams({}, -1, true), "Pad width should be >= 0"));

  const auto number = [](std::int32_t v) { return i32({}, {v}); };
  CHECK(refuses("UnsortedSegmentJoin", {two, i32({2}, {0, 2}), number(2)}, {}, "segment_ids are not allowed to exceed num_segments"));
  CHECK(refuses("UnsortedSegmentJoin", {two, i32({2}, {0, -1}), number(2)}, {}, "segment_ids are not allowed to exceed num_segments"));
  CHECK(refuses("UnsortedSegmentJoin", {two, i32({1}, {0}), number(2)}, {}, "Segment dimension is 1 while input dimension is 2 in rank 0"));
  CHECK(refuses("UnsortedSegmentJoin", {two, number(0), number(2)}, {}, "Segment_id cannot have rank 0"));
  CHECK(refuses<out_of_range>("UnsortedSegmentJoin", {two, i32({2, 1}, {0, 0}), number(2)}, {}, "Invalid segment_id rank 2"));
  CHECK(refuses("UnsortedSegmentJoin", {two, i32({2}, {0, 0}), number(-1)}, {}, "Number of segments must be non-negative but got -1"));
  CHECK(refuses("UnsortedSegmentJoin", {two, i32({2}, {0, 0}), i32({1}, {1})}, {}, "Number of segments must be a scalar"));

  const auto codes = [](const char* errors, std::int64_t replacement = 0xfffd, const char* from = "UTF-8", const char* to = "UTF-8") {
    return attribute_map{{"errors", errors}, {"replacement_char", replacement}, {"input_encoding", from}, {"output_encoding", to}};
  };
  const auto broken = text({1}, {"\xff"});
  CHECK(refuses("UnicodeTranscode", {broken}, codes("strict"), "Invalid formatting on input string"));
  CHECK(refuses("UnicodeTranscode", {broken}, codes("replace", 0x110000), "replacement_char out of unicode codepoint range"));
  CHECK(refuses("UnicodeTranscode", {broken}, codes("replace", 63, "foo"), "Could not create converter for input encoding: foo"));
  CHECK(refuses("UnicodeTranscode", {broken}, codes("other"), "'errors' of \"other\""));
  CHECK(refuses("UnicodeTranscode", {broken}, codes("replace", 63, "UTF-8", "UTF-7"), "'output_encoding' of \"UTF-7\""));
  CHECK(refuses("UnicodeDecode", {broken}, {{"input_encoding", "UTF-8"}, {"errors", "strict"}}, "Invalid formatting on input string"));
  const auto encodes = [&](const std::vector<tensor_value>& inputs, std::string_view words) {
    return refuses("UnicodeEncode", inputs, {{"errors", "strict"}, {"output_encoding", "UTF-8"}}, words);
  };
  CHECK(encodes({i32({1}, {0xd800}), i64({2}, {0, 1})}, "Code point is out of range for Unicode, or is a surrogate."));
  CHECK(encodes({i32({1}, {1}), i64({2}, {0, 2})}, "Last value in input_splits must be equal to length of input_tensor."));
  CHECK(encodes({i32({1}, {1}), i64({2}, {1, 1})}, "First value in input_splits must be zero."));
  CHECK(encodes({i32({2}, {1, 2}), i64({4}, {0, 2, 1, 2})}, "Values in input_splits must be equal or in ascending order."));
  CHECK(encodes({i32({1, 2}, {1, 2}), i64({2}, {0, 2})}, "should be of rank 1"));
  CHECK(encodes({i32({1}, {1}), i64({0}, {})}, "Input_splits should contain elements"));
  CHECK(refuses("StringToHashBucketStrong", {two}, {{"num_buckets", std::int64_t{2}}, {"key", std::vector<std::int64_t>{1}}},
                "Key must have 2 elements"));
}

}  // namespace text_formats_test
