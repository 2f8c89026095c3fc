#pragma once
// Adapts sessions of typed expressions, compiled or planned, to savers.

#include <leat/checkpoint/session_access.hpp>
#include <leat/session/typed/basic_session.hpp>

namespace leat::detail {

template <class Device, expression... Es>
class typed_session_access final : public session_access {
 public:
  explicit typed_session_access(basic_session<Device, Es...>& s) : session_(&s) {}

  std::vector<session_variable> variables() const override {
    std::vector<session_variable> all;
    session_->with_values([&](const list<stored_value>& values) {
      for (const stored_value& v : values) all.push_back({v.name, v.type, v.extent, v.is_initialized});
    });
    return all;
  }
  void with_values(const std::vector<std::string>& names, const std::function<void(std::vector<tensor_value>)>& use) const override {
    session_->with_values([&](const list<stored_value>& values) {
      std::vector<tensor_value> borrowed;
      for (const std::string& name : names)
        for (const stored_value& v : values)
          if (v.name == name) borrowed.push_back(tensor_value::borrow(v.type, v.extent, const_cast<std::byte*>(v.bytes.data())));
      use(std::move(borrowed));
    });
  }
  void assign(const std::vector<std::string>& names, const std::vector<tensor_value>& values, bool) override {
    list<stored_value> given;
    for (std::size_t i = 0; i < names.size(); ++i)
      given.push_back({names[i], values[i].type(), values[i].extent(), {values[i].data(), values[i].bytes()}});
    session_->assign_values(given);
  }
  std::string fingerprint() const override {
    std::uint64_t hash = 0;
    ((hash = mix(hash, Es::identity::hash)), ...);
    return fingerprint_text(hash);
  }
  std::string meta_graph() const override { return {}; }
  std::uint64_t serial() const override { return 0; }

 private:
  basic_session<Device, Es...>* session_;
};

template <class Device, expression... Es>
typed_session_access<Device, Es...> access_of(access_key, basic_session<Device, Es...>& s) {
  return typed_session_access<Device, Es...>(s);
}

}  // namespace leat::detail
