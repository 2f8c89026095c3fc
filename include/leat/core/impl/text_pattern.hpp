#pragma once
// Implementation of text_pattern.hpp: the pattern becomes a graph of steps, and a text is matched by the set of all steps that its bytes so
// far can lead to. Source: K. Thompson, "Regular Expression Search Algorithm", 1968.

#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/core/text_pattern.hpp>

#include <cstdint>
#include <utility>

namespace leat::detail {

class text_pattern_parser {
 public:
  text_pattern_parser(std::string_view pattern, text_pattern& made) : text_(pattern), made_(made) {}

  void run() {
    piece whole = choice(0);
    if (at_ < text_.size()) fail("a closing parenthesis without an opening one");
    const int match = add({.what = text_pattern::kind::match});
    join(whole, match);
    made_.start_ = whole.start;
  }

 private:
  using kind = text_pattern::kind;
  // Steps with one entry, and the ends that lead to whatever follows: the step, and whether it is its second way.
  struct piece {
    int start = -1;
    std::vector<std::pair<int, bool>> open{};
  };
  static constexpr int most_steps = 10'000, most_depth = 100, most_count = 1'000;

  [[noreturn]] void fail(const char* what) const {
    throw invalid_argument("the pattern '" + std::string(text_) + "', at " + std::to_string(at_) + ": " + what);
  }
  [[noreturn]] void refuse(const char* what) const {
    throw unimplemented("the pattern '" + std::string(text_) + "', at " + std::to_string(at_) + ": " + what);
  }
  bool more() const { return at_ < text_.size(); }
  char peek() const { return text_[at_]; }
  bool takes(char c) {
    if (!more() || peek() != c) return false;
    ++at_;
    return true;
  }
  int add(text_pattern::step s) {
    if (made_.steps_.size() >= most_steps) throw resource_exhausted("the pattern '" + std::string(text_) + "' has too many steps");
    made_.steps_.push_back(s);
    return static_cast<int>(made_.steps_.size()) - 1;
  }
  void join(const piece& from, int to) {
    for (const auto& [s, second] : from.open) {
      auto& its = made_.steps_[static_cast<std::size_t>(s)];
      (second ? its.other : its.next) = to;
    }
  }
  piece single(text_pattern::step s) {
    const int made = add(s);
    return {made, {{made, false}}};
  }
  piece bytes(const std::bitset<256>& set) {
    made_.sets_.push_back(set);
    return single({.what = kind::bytes, .set = static_cast<int>(made_.sets_.size()) - 1});
  }
  piece either(piece a, piece b) {
    const int s = add({.what = kind::split, .next = a.start, .other = b.start});
    a.open.insert(a.open.end(), b.open.begin(), b.open.end());
    return {s, std::move(a.open)};
  }
  piece both(piece a, piece b) {
    join(a, b.start);
    return {a.start, std::move(b.open)};
  }
  piece nothing() {
    const int s = add({.what = kind::split});  // both ways lead on
    return {s, {{s, false}, {s, true}}};
  }
  // A way that is taken or left; `lazy` prefers to leave it. The second value says which way leads on.
  int choice_of(int start, bool lazy) {
    return lazy ? add({.what = kind::split, .other = start}) : add({.what = kind::split, .next = start});
  }
  piece repeated(piece a, bool may_be_absent, bool lazy) {
    const int s = choice_of(a.start, lazy);
    join(a, s);
    return {may_be_absent ? s : a.start, {{s, !lazy}}};
  }
  piece optional(piece a, bool lazy) {
    const int s = choice_of(a.start, lazy);
    a.open.emplace_back(s, !lazy);
    return {s, std::move(a.open)};
  }
  static std::bitset<256> range(int first, int last) {
    std::bitset<256> set;
    for (int c = first; c <= last; ++c) set.set(static_cast<std::size_t>(c));
    return set;
  }
  // One character beyond ASCII, of two to four bytes.
  piece wide() {
    const auto tail = range(0x80, 0xbf);
    piece two = both(bytes(range(0xc2, 0xdf)), bytes(tail));
    piece three = both(both(bytes(range(0xe0, 0xef)), bytes(tail)), bytes(tail));
    piece four = both(both(both(bytes(range(0xf0, 0xf4)), bytes(tail)), bytes(tail)), bytes(tail));
    return either(std::move(two), either(std::move(three), std::move(four)));
  }
  // The characters of a class, inverted or not.
  piece of_class(std::bitset<256> ascii, bool inverted) {
    if (!inverted) return bytes(ascii);
    ascii.flip();
    return either(bytes(ascii & range(0, 0x7f)), wide());
  }

  piece choice(int depth) {
    if (depth > most_depth) fail("more than 100 parentheses within each other");
    piece all = sequence(depth);
    while (takes('|')) all = either(std::move(all), sequence(depth));
    return all;
  }
  piece sequence(int depth) {
    piece all = nothing();
    while (more() && peek() != '|' && peek() != ')') all = both(std::move(all), counted(depth));
    return all;
  }
  piece counted(int depth) {
    const std::size_t begin = at_;
    const int first_group = made_.groups_;
    piece one = atom(depth);
    while (more()) {
      const std::size_t end = at_;
      if (takes('*')) {
        one = repeated(std::move(one), true, takes('?'));
      } else if (takes('+')) {
        one = repeated(std::move(one), false, takes('?'));
      } else if (takes('?')) {
        one = optional(std::move(one), takes('?'));
      } else if (int least = 0, most = 0; counts(least, most)) {
        const bool lazy = takes('?');
        // The atom is read again for each further copy of it.
        const std::size_t behind = at_;
        const auto again = [&] {
          at_ = begin;
          made_.groups_ = first_group;  // the copies are the same groups
          piece copy = atom(depth);
          if (at_ != end) fail("a count behind another count; put parentheses around the first");
          return copy;
        };
        piece all = least == 0 ? nothing() : std::move(one);
        for (int k = 1; k < least; ++k) all = both(std::move(all), again());
        if (most < 0) {
          all = both(std::move(all), repeated(again(), true, lazy));
        } else {
          for (int k = least; k < most; ++k) all = both(std::move(all), optional(again(), lazy));
        }
        one = std::move(all);
        at_ = behind;
      } else {
        break;
      }
    }
    return one;
  }
  // "{2}", "{2,}" or "{2,5}"; -1 for no upper limit.
  bool counts(int& least, int& most) {
    const std::size_t begin = at_;
    const auto number = [&](int& n) {
      const std::size_t first = at_;
      for (n = 0; more() && peek() >= '0' && peek() <= '9'; ++at_)
        if ((n = 10 * n + (peek() - '0')) > most_count) fail("a count beyond 1000");
      return at_ > first;
    };
    if (takes('{') && number(least)) {
      most = least;
      if (takes(',') && !number(most)) most = -1;
      if (takes('}')) {
        if (most >= 0 && most < least) fail("a count whose upper limit is below the lower one");
        return true;
      }
    }
    at_ = begin;
    return false;
  }
  piece atom(int depth) {
    if (takes('(')) {
      const bool is_group = !takes('?');
      if (!is_group && !takes(':')) refuse("of the groups that begin with '(?' only '(?:' is known");
      const int number = is_group ? ++made_.groups_ : 0;
      const auto kept = [&](int place) { return single({.what = kind::save, .set = place}); };
      const bool is_kept = is_group && 2 * number + 1 < static_cast<int>(text_pattern::most_places);
      piece group = is_kept ? both(kept(2 * number), choice(depth + 1)) : choice(depth + 1);
      if (is_kept) group = both(std::move(group), kept(2 * number + 1));
      if (!takes(')')) fail("a parenthesis that is not closed");
      return group;
    }
    if (takes('^')) return single({.what = kind::begin});
    if (takes('$')) return single({.what = kind::end});
    if (takes('.')) return of_class(range('\n', '\n'), true);
    if (takes('[')) return in_brackets();
    if (peek() == '*' || peek() == '+' || peek() == '?') fail("a repetition of nothing");
    if (takes('\\')) {
      if (takes('A')) return single({.what = kind::begin});
      if (takes('z')) return single({.what = kind::end});
      bool inverted = false;
      const auto set = escaped(inverted);
      return of_class(set, inverted);
    }
    const auto c = static_cast<unsigned char>(text_[at_++]);
    return bytes(range(c, c));
  }
  // What stands behind a backslash: one character, or a class.
  std::bitset<256> escaped(bool& inverted) {
    if (!more()) fail("a backslash at the end");
    const char c = text_[at_++];
    const auto of = [](char one) { return range(static_cast<unsigned char>(one), static_cast<unsigned char>(one)); };
    const auto digits = range('0', '9');
    switch (c) {
      case 'D': inverted = true; [[fallthrough]];
      case 'd': return digits;
      case 'W': inverted = true; [[fallthrough]];
      case 'w': return digits | range('a', 'z') | range('A', 'Z') | of('_');
      case 'S': inverted = true; [[fallthrough]];
      case 's': return of(' ') | of('\t') | of('\n') | of('\f') | of('\r');
      case 't': return of('\t');
      case 'n': return of('\n');
      case 'r': return of('\r');
      case 'f': return of('\f');
      case 'v': return of('\v');
      case 'a': return of('\a');
      default: break;
    }
    const bool is_word = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (is_word || static_cast<unsigned char>(c) >= 0x80) refuse("this backslash has no meaning here");
    return of(c);
  }
  piece in_brackets() {
    const bool inverted = takes('^');
    std::bitset<256> set;
    for (bool first = true; first || !more() || peek() != ']'; first = false) {
      if (!more()) fail("a bracket that is not closed");
      if (peek() == '[' && at_ + 1 < text_.size() && text_[at_ + 1] == ':') refuse("classes by name are not known");
      int from = 0;
      if (!in_class(set, from)) continue;
      if (!more() || peek() != '-' || at_ + 1 >= text_.size() || text_[at_ + 1] == ']') {
        set.set(static_cast<std::size_t>(from));
        continue;
      }
      ++at_;
      int to = 0;
      if (!in_class(set, to) || to < from) fail("a range of characters that ends before it begins");
      set |= range(from, to);
    }
    ++at_;
    return of_class(set, inverted);
  }
  // One character of a class; for a class within it, such as \d, adds that and returns false.
  bool in_class(std::bitset<256>& set, int& one) {
    if (takes('\\')) {
      bool inverted = false;
      auto its = escaped(inverted);
      if (inverted) refuse("an inverted class within a class");
      if (its.count() != 1) {
        set |= its;
        return false;
      }
      while (!its.test(static_cast<std::size_t>(one))) ++one;
      return true;
    }
    one = static_cast<unsigned char>(text_[at_++]);
    if (one >= 0x80) refuse("a class with characters beyond ASCII");
    return true;
  }

  std::string_view text_;
  text_pattern& made_;
  std::size_t at_ = 0;
};

LEAT_FUNCTION text_pattern::text_pattern(std::string_view pattern) { text_pattern_parser(pattern, *this).run(); }

LEAT_FUNCTION bool text_pattern::matches(std::string_view text) const {
  std::vector<int> now, next, pending;
  std::vector<std::size_t> seen(steps_.size(), 0);  // by step: one more than the last position at which it was reached
  bool is_match = false;
  const auto reach = [&](int first, std::size_t at, std::vector<int>& list) {
    pending.assign(1, first);
    while (!pending.empty()) {
      const int s = pending.back();
      pending.pop_back();
      if (s < 0 || seen[static_cast<std::size_t>(s)] == at + 1) continue;
      seen[static_cast<std::size_t>(s)] = at + 1;
      const step& its = steps_[static_cast<std::size_t>(s)];
      switch (its.what) {
        case kind::bytes: list.push_back(s); break;
        case kind::split: pending.push_back(its.other), pending.push_back(its.next); break;
        case kind::begin:
          if (at == 0) pending.push_back(its.next);
          break;
        case kind::end:
          if (at == text.size()) pending.push_back(its.next);
          break;
        case kind::save: pending.push_back(its.next); break;
        case kind::match: is_match = is_match || at == text.size(); break;
      }
    }
  };
  reach(start_, 0, now);
  for (std::size_t i = 0; i < text.size() && !now.empty(); ++i) {
    next.clear();
    for (const int s : now) {
      const step& its = steps_[static_cast<std::size_t>(s)];
      if (sets_[static_cast<std::size_t>(its.set)].test(static_cast<unsigned char>(text[i]))) reach(its.next, i + 1, next);
    }
    std::swap(now, next);
  }
  return is_match;
}

// All ways through the pattern are followed at once, in the order of preference, each with its places. Source: R. Pike's implementation of
// regular expressions in `sam`, as R. Cox describes it in "Regular Expression Matching: the Virtual Machine Approach", 2009.
LEAT_FUNCTION std::optional<text_pattern::places> text_pattern::find(std::string_view text, std::size_t from,
                                                                     const std::function<void()>& check) const {
  struct way {
    int step = 0;
    places at{};
  };
  std::vector<way> now, next, pending;
  std::vector<std::size_t> seen(steps_.size(), 0);  // by step: one more than the last position at which it was reached
  std::optional<places> found;
  const auto reach = [&](const way& first, std::size_t at, std::vector<way>& list) {
    pending.assign(1, first);
    while (!pending.empty()) {
      way w = pending.back();
      pending.pop_back();
      if (w.step < 0 || seen[static_cast<std::size_t>(w.step)] == at + 1) continue;
      seen[static_cast<std::size_t>(w.step)] = at + 1;
      const step& its = steps_[static_cast<std::size_t>(w.step)];
      const auto go = [&](int to) {
        w.step = to;
        pending.push_back(w);
      };
      switch (its.what) {
        case kind::bytes:
        case kind::match: list.push_back(w); break;
        case kind::split: go(its.other), go(its.next); break;
        case kind::begin:
          if (at == 0) go(its.next);
          break;
        case kind::end:
          if (at == text.size()) go(its.next);
          break;
        case kind::save:
          w.at[static_cast<std::size_t>(its.set)] = at;
          go(its.next);
          break;
      }
    }
  };
  for (std::size_t i = from; i <= text.size(); ++i) {
    if (check && i % 1024 == 0) check();
    if (!found) {
      way first{start_, {}};
      first.at.fill(none);
      first.at[0] = i;
      reach(first, i, now);
    }
    if (now.empty()) {
      if (found) break;
      continue;
    }
    next.clear();
    for (const way& w : now) {
      const step& its = steps_[static_cast<std::size_t>(w.step)];
      if (its.what == kind::match) {  // ways behind this one are less preferred
        found = w.at;
        (*found)[1] = i;
        break;
      }
      if (i < text.size() && sets_[static_cast<std::size_t>(its.set)].test(static_cast<unsigned char>(text[i])))
        reach({its.next, w.at}, i + 1, next);
    }
    std::swap(now, next);
  }
  return found;
}

LEAT_FUNCTION std::string text_pattern::replace(std::string_view text, std::string_view rewrite, bool is_global,
                                                const std::function<void()>& check) const {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (std::size_t i = 0; i < rewrite.size(); ++i) {
    if (rewrite[i] != '\\') continue;
    if (++i == rewrite.size() || (!is_digit(rewrite[i]) && rewrite[i] != '\\'))
      throw invalid_argument("the rewrite '" + std::string(rewrite) + "': behind a backslash stands a digit or another backslash");
    if (is_digit(rewrite[i]) && rewrite[i] - '0' > groups_) return std::string(text);
  }
  std::string made;
  // A text of a file may ask for the product of its length and the rewrite's.
  constexpr std::size_t most = std::size_t{1} << 31;
  const auto append = [&](std::string_view part) {
    if (part.size() > most - made.size()) throw resource_exhausted("a text of more than 2 GB by replacing the matches of a pattern");
    made.append(part);
  };
  std::size_t at = 0, last_end = none;
  while (at <= text.size()) {
    const auto match = find(text, at, check);
    if (!match) break;
    const std::size_t begin = (*match)[0], end = (*match)[1];
    append(text.substr(at, begin - at));
    at = begin;
    if (begin == last_end && begin == end) {  // an empty match at the end of the last one does not count: one character is passed
      if (at == text.size()) break;
      do append(text.substr(at++, 1));
      while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80);
      continue;
    }
    for (std::size_t i = 0; i < rewrite.size(); ++i) {
      if (rewrite[i] != '\\' || rewrite[++i] == '\\') {
        append(rewrite.substr(i, 1));
        continue;
      }
      const auto group = static_cast<std::size_t>(rewrite[i] - '0');
      if ((*match)[2 * group] != none && (*match)[2 * group + 1] != none)
        append(text.substr((*match)[2 * group], (*match)[2 * group + 1] - (*match)[2 * group]));
    }
    at = last_end = end;
    if (!is_global) break;
  }
  if (at < text.size()) append(text.substr(at));
  return made;
}

}  // namespace leat::detail
