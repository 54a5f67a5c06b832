// What may follow a text, and texts that come piece by piece.
#include <atomic>

#include "bind_ids.hpp"
#include "text_stream.hpp"

namespace supratok {
namespace {

nb::object as_str(std::string_view text) {
  nb::object made =
      nb::steal(PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
  if (!made.is_valid()) throw nb::python_error();
  return made;
}

// Its ids, and the text behind them.
nb::tuple to_pair(const Boundaries::Cover& cover, std::string_view text) {
  return nb::make_tuple(to_list(cover.ids), as_str(text.substr(cover.end)));
}

Ids ids_of(nb::handle given) {
  Ids ids;
  read_ids(given, ids);
  return ids;
}

// What work() finds, as Python sees it: convert(found). The GIL is released for long work.
template <class Work, class Convert>
nb::object answer(size_t size, Work work, Convert convert) {
  decltype(work()) found{};
  work_on(size, [&] { found = work(); });
  return in_python([&] { return nb::object(convert(found)); });
}

constexpr size_t kLong = 1 << 16;  // the size of work that is always long

// One thread at a time: another one meets an error, not a table half changed.
class LockedStream {
 public:
  LockedStream(const Boundaries& boundaries, nb::type_object patch)
      : stream_(boundaries), patch_(std::move(patch)) {}
  template <class Work>
  auto with(Work work) {
    if (busy_.test_and_set())
      throw std::runtime_error("another thread uses this stream; each thread needs its own");
    const struct Free {
      std::atomic_flag& busy;
      ~Free() { busy.clear(); }
    } free{busy_};
    return work(stream_);
  }
  // A new patch, a tuple of two. (Called as Python calls it, its class would cost a tuple more.)
  nb::object patch(size_t keep, std::span<const uint32_t> ids) const {
    nb::object made =
        nb::steal(PyType_GenericAlloc(reinterpret_cast<PyTypeObject*>(patch_.ptr()), 2));
    if (!made.is_valid() || PyTuple_SetItem(made.ptr(), 0, nb::int_(keep).release().ptr()) ||
        PyTuple_SetItem(made.ptr(), 1, to_list(ids).release().ptr()))
      throw nb::python_error();
    return made;
  }

 private:
  TextStream stream_;
  const nb::type_object patch_;  // a class of tuples
  std::atomic_flag busy_;
};

}  // namespace

void bind_boundaries(nb::module_& m) {
  nb::class_<Boundaries>(m, "Boundaries")
      .def(nb::init<const Encoder&, Ids, const Ids&>(), "encoder"_a, "special"_a, "unused"_a,
           nb::keep_alive<1, 2>(), Released(),
           "Special tokens end one text and begin another; unused ids are in no encoding.")
      .def(
          "covers",
          [](const Boundaries& self, std::string_view text) {
            return answer(
                text.size(), [&] { return self.covers(text); },
                [&](const auto& covers) {
                  nb::list all;
                  for (const auto& cover : covers) all.append(to_pair(cover, text));
                  return all;
                });
          },
          "text"_a, "The ids before each rest of the text that a token may begin with, and it.")
      .def(
          "stable",
          [](const Boundaries& self, std::string_view text) {
            return answer(
                text.size(), [&] { return self.stable(text); },
                [&](const auto& cover) { return to_pair(cover, text); });
          },
          "text"_a, "The ids that no continuation changes, and the text behind them.")
      .def(
          "may_come",
          [](const Boundaries& self, nb::handle ids, std::string_view rest) {
            const Ids before = ids_of(ids);
            return answer(
                kLong, [&] { return self.may_come(before, rest); },
                [](const Ids& found) { return to_array(found); });
          },
          "ids"_a, "rest"_a)
      .def(
          "canonical_prefix",
          [](const Boundaries& self, nb::handle given) {
            const Ids ids = ids_of(given);
            return answer(
                ids.size(), [&] { return self.canonical_prefix(ids); },
                [](size_t size) { return nb::int_(size); });
          },
          "ids"_a)
      .def(
          "may_follow",
          [](const Boundaries& self, uint32_t left, nb::handle rights) {
            const Ids ids = ids_of(rights);
            return answer(
                ids.size(), [&] { return self.may_follow(left, ids); },
                [](const auto& may) { return to_numpy<uint8_t>(may); });
          },
          "left"_a, "rights"_a, "By right id, 1 if the two are an encoding.")
      .def(
          "next_mask",
          [](const Boundaries& self, nb::handle given) {
            const Ids ids = ids_of(given);
            return answer(
                kLong, [&] { return self.next_mask(ids); },
                [](const auto& mask) { return to_numpy<uint8_t>(mask); });
          },
          "ids"_a, "By id, 1 if it may come next.");

  nb::class_<LockedStream>(m, "TextStream")
      .def(nb::init<const Boundaries&, nb::type_object>(), "boundaries"_a, "patch"_a,
           nb::keep_alive<1, 2>(), "Patches are of this class, which is one of tuples.")
      .def(
          "append",
          [](LockedStream& self, std::string_view text) {
            return self.with([&](TextStream& stream) {
              size_t keep = 0;
              work_on(text.size(), [&] { keep = stream.append(text); });
              return in_python([&] { return self.patch(keep, stream.ids().subspan(keep)); });
            });
          },
          "text"_a, "How many ids stay, and the new ones behind them.")
      .def("ids",
           [](LockedStream& self) {
             return self.with([](TextStream& stream) { return to_list(stream.ids()); });
           })
      .def("bytes", [](LockedStream& self) {
        return self.with([](TextStream& stream) { return stream.bytes(); });
      });
}

}  // namespace supratok
