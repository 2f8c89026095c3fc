#include "notes.hpp"

#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdio>
#include <exception>
#include <vector>

namespace leat::examples {

namespace {

std::string current_item;

void print(std::string_view what, std::string_view result) {
  std::printf("  %.*s: %.*s\n", static_cast<int>(what.size()), what.data(), static_cast<int>(result.size()), result.data());
}

std::vector<double> numbers_of(const tensor_value& v) {
  return with_dtype(v.type(), [&]<class T>(T) {
    const auto all = v.values<T>();
    return std::vector<double>(all.begin(), all.end());
  });
}

std::string text_of(const tensor_value& v) { return v ? summary_text(v, 24) : "no value"; }

void compare(std::string_view what, const tensor_value& got, const tensor_value& wanted, double tolerance) {
  const std::string text = text_of(got);
  print(what, text);
  bool same = static_cast<bool>(got) && got.extent() == wanted.extent() && (got.type() == text_dtype) == (wanted.type() == text_dtype);
  if (same && got.type() == text_dtype) {
    same = got.texts() == wanted.texts();
  } else if (same) {
    const auto a = numbers_of(got), b = numbers_of(wanted);
    for (std::size_t i = 0; i < a.size(); ++i) same = same && (a[i] == b[i] || std::abs(a[i] - b[i]) <= tolerance);
  }
  if (!same)
    throw surprise(std::string(what) + " is " + text + " of shape " + brackets(got.extent()) + ", not " + text_of(wanted) + " of shape " +
                   brackets(wanted.extent()) + (tolerance > 0 ? " within " + std::to_string(tolerance) : ""));
}

}  // namespace

void item(std::string_view number, std::string_view what) {
  current_item = number;
  std::printf("%s  %.*s\n", current_item.c_str(), static_cast<int>(what.size()), what.data());
}

void expect(std::string_view what, const tensor_value& got, const tensor_literal& wanted, double tolerance) {
  compare(what, got, tensor_value(wanted), tolerance);
}

void expect_equal(std::string_view what, const tensor_value& got, const tensor_value& wanted, double tolerance) {
  if (got.type() != wanted.type()) throw surprise(std::string(what) + ": " + dtype_name(got.type()) + " and " + dtype_name(wanted.type()));
  compare(what, got, wanted, tolerance);
}

void expect_text(std::string_view what, std::string_view got, std::string_view wanted) {
  print(what, got);
  if (got != wanted) throw surprise(std::string(what) + " is \"" + std::string(got) + "\", not \"" + std::string(wanted) + "\"");
}

void expect_true(std::string_view what, bool holds) {
  print(what, holds ? "yes" : "no");
  if (!holds) throw surprise(std::string(what) + " does not hold");
}

namespace detail {

void print_refusal(std::string_view what, std::string_view why, std::string_view words) {
  const std::string_view all = why;
  why = why.substr(0, why.find('\n'));
  why = why.substr(0, why.find(", made at"));
  why = why.substr(0, why.find(" Originally defined at"));
  print(what, "refused: " + std::string(why));
  if (all.find(words) == all.npos) throw surprise(std::string(what) + " is refused without the words \"" + std::string(words) + "\"");
}

void was_accepted(std::string_view what) { throw surprise(std::string(what) + " was accepted, and should be refused"); }

}  // namespace detail

int run_sections(int count, char** arguments, const char* about, std::initializer_list<section> sections) {
  CLI::App app{about};
  std::string wanted, list = "Sections:\n";
  std::vector<std::string> names;
  for (const section& s : sections) {
    names.emplace_back(s.name);
    list += "  " + names.back() + std::string(names.back().size() < 14 ? 14 - names.back().size() : 1, ' ') + s.about + "\n";
  }
  app.footer(list);
  app.add_option("--section", wanted, "this section alone")->check(CLI::IsMember(names));
  CLI11_PARSE(app, count, arguments);
  try {
    for (const section& s : sections) {
      if (!wanted.empty() && wanted != s.name) continue;
      std::printf("---- %s: %s\n", s.name, s.about);
      s.show();
      std::printf("\n");
    }
    return 0;
  } catch (const std::exception& problem) {
    std::fflush(stdout);
    std::fprintf(stderr, "item %s: %s\n", current_item.c_str(), problem.what());
    return 1;
  }
}

}  // namespace leat::examples
