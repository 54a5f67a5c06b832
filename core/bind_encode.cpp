// Encoders, and surveys of their encodings.
#include "bind_rows.hpp"
#include "encode.hpp"
#include "survey.hpp"

namespace supratok {
namespace {

nb::list to_list(const Ids& ids) {
  nb::list list = nb::steal<nb::list>(PyList_New(static_cast<Py_ssize_t>(ids.size())));
  if (!list.is_valid()) throw nb::python_error();
  for (size_t i = 0; i < ids.size(); ++i) {
    PyObject* number = PyLong_FromUnsignedLong(ids[i]);
    if (!number) throw nb::python_error();
    NB_LIST_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i), number);
  }
  return list;
}

// Of 64 bits, the only width that PyTorch takes both as indices and as targets.
nb::object to_array(const Ids& ids) {
  return in_python([&] { return to_numpy<int64_t>(ids); });
}

// Releases the GIL only if the text is long enough to be worth it.
Ids encode(const Encoder& encoder, std::string_view text) {
  Ids ids;
  std::optional<Unlocked> released;
  if (text.size() > 4096) released.emplace();
  encoder.encode(text, ids);
  return ids;
}

nb::list encode_batch(const Encoder& encoder, const Texts& texts, size_t threads, bool arrays) {
  nb::list results;
  for (size_t i = 0; i < texts.size(); ++i) results.append(nb::none());
  std::vector<std::pair<size_t, std::vector<Ids>>> ready;
  std::mutex lock;
  Unlocked released;
  const auto add = [&](size_t first, std::vector<Ids> ids) {
    const std::lock_guard guard(lock);
    ready.emplace_back(first, std::move(ids));
  };
  const auto collect = [&] {  // only the calling thread touches Python
    std::unique_lock guard(lock);
    const auto some = std::exchange(ready, {});
    guard.unlock();
    if (some.empty()) return;
    released.locked([&] {
      for (const auto& [first, ids] : some)
        for (size_t i = 0; i < ids.size(); ++i)
          results[first + i] = arrays ? to_array(ids[i]) : to_list(ids[i]);
    });
  };
  encode_all(encoder, texts, threads, add, collect);
  return results;
}

// The ids of the documents in some whole lines of JSON, one after another, each with `end` behind
// it, and how many ids each has. Nothing if a line is odd (see lines.hpp): then Python reads them
// all.
nb::object encode_lines(const Encoder& encoder, const std::string& data, std::string_view key,
                        size_t longest, std::optional<uint32_t> end, size_t threads) {
  struct Part {
    Ids ids;
    Counts lengths;
    bool odd = false;
  };
  constexpr size_t kPortion = 1 << 17;  // bytes
  std::vector<size_t> borders{0};
  while (borders.back() < data.size())
    borders.push_back(std::min(data.find('\n', borders.back() + kPortion), data.size() - 1) + 1);
  std::vector<Part> parts(borders.size() - 1);
  const auto encode = [&](size_t place) {
    Part& part = parts[place];
    std::string room;
    for (size_t start = borders[place]; start < borders[place + 1] && !part.odd;) {
      const size_t stop = std::min(data.find('\n', start), data.size());
      const std::string_view line(&data[start], stop - start);
      std::string_view text;
      room.clear();
      room.reserve(line.size());
      part.odd = line.size() > longest || !JsonLine::read(line, key, room, text);
      start = stop + 1;
      if (part.odd || text.empty()) continue;
      const size_t before = part.ids.size();
      encoder.encode(text, part.ids);
      if (end) part.ids.push_back(*end);
      part.lengths.push_back(static_cast<int64_t>(part.ids.size() - before));
      breathe();
    }
  };
  Part whole;
  {
    const Unlocked released;
    in_parallel(parts.size(), threads, encode, [] {});
    for (const Part& part : parts) {
      if (part.odd) whole.odd = true;
      whole.ids.insert(whole.ids.end(), part.ids.begin(), part.ids.end());
      whole.lengths.insert(whole.lengths.end(), part.lengths.begin(), part.lengths.end());
    }
  }
  if (whole.odd) return nb::none();
  return nb::make_tuple(to_numpy<uint32_t>(whole.ids), to_numpy<int64_t>(whole.lengths));
}

void bind_surveys(nb::module_& m) {
  nb::class_<Encoded>(m, "Encoded")
      .def(
          "__init__",
          [](Encoded* self, uint64_t memory) { new (self) Encoded(temporary_folder(), memory); },
          "memory"_a = 1 << 28,
          "Encodings: in memory up to so many bytes, then in a temporary file.")
      .def("__len__", [](const Encoded& self) { return self.store.totals().documents; });

  nb::class_<Survey>(m, "Survey")
      .def(nb::init<const Encoder&, int>(), "encoder"_a, "sketch_bits"_a, nb::keep_alive<1, 2>())
      .def("count", &count<Survey, Encoded*>, "documents"_a, "threads"_a, "progress"_a = nb::none(),
           "keep"_a.none() = nb::none(), "`keep` receives the encodings, for `Neighbours`.")
      .def("uses", [](const Survey& self) { return self.uses; })
      .def("documents", [](const Survey& self) { return self.documents; })
      .def("add", &Survey::add_counts, "uses"_a, "documents"_a,
           "Adds what another survey with this encoder counted, but for its pairs.")
      .def_prop_ro(
          "pairs", [](Survey& self) { return self.pairs ? &*self.pairs : nullptr; },
          nb::rv_policy::reference_internal, "Bounds for pairs of neighbouring entries.");

  nb::class_<Neighbours>(m, "Neighbours")
      .def(nb::init<const Survey&, uint32_t>(), "survey"_a, "floor"_a, nb::keep_alive<1, 2>())
      .def(
          "count",
          [](Neighbours& self, nb::object documents, size_t threads, nb::object progress) {
            if (!nb::isinstance<Encoded>(documents))
              return count(self, documents, threads, progress);
            count_blocks([&](const Block& block) { self.add_encoded(block); },
                         nb::cast<const Encoded&>(documents).store, threads, progress);
          },
          "documents"_a, "threads"_a, "progress"_a = nb::none(),
          "Over texts, a store, or the encodings that the survey kept.")
      .def("rows", &Neighbours::rows, Released(),
           "Left entries, right entries, counts; most frequent first.");
  def_rows<Neighbours, &Neighbours::pairs>(m, "Neighbours");
}

}  // namespace

void bind_encode(nb::module_& m) {
  m.attr("MOST_TOKENS") = TrieSlots::kMostNodes;
  nb::class_<Encoder>(m, "Encoder")
      .def(nb::init<Strings, const Counts&, bool, uint32_t, Ids, const Ids&>(), "entries"_a,
           "weights"_a, nb::kw_only(), "fewest"_a, "first_id"_a, "ids"_a = nb::list(),
           "tied"_a = nb::list(), Released())
      .def(
          "encode",
          [](const Encoder& self, std::string_view text) {
            const Ids ids = encode(self, text);
            return in_python([&] { return to_list(ids); });
          },
          "text"_a)
      .def(
          "encode_array",
          [](const Encoder& self, std::string_view text) { return to_array(encode(self, text)); },
          "text"_a)
      .def("encode_batch", &encode_batch, "texts"_a, "threads"_a, "arrays"_a)
      .def(
          "encode_lines",
          [](const Encoder& self, const nb::bytes& data, std::string_view key, size_t longest,
             std::optional<uint32_t> end, size_t threads) {
            return encode_lines(self, {data.c_str(), data.size()}, key, longest, end, threads);
          },
          "data"_a, "key"_a, "longest"_a, "end"_a.none(), "threads"_a,
          "The ids of the documents in whole lines of JSON, each with `end` behind it, and how "
          "many "
          "ids each has; None if a line needs Python.")
      .def(
          "encode_with_offsets",
          [](const Encoder& self, std::string_view text) {
            const Ids ids = encode(self, text);
            return std::pair(to_list(ids), offsets(self, text, ids));
          },
          "text"_a)
      .def("count", &Encoder::count, "text"_a, Released())
      .def(
          "usage",
          [](const Encoder& self, const Texts& texts, size_t threads, const Counts& weights) {
            if (!weights.empty()) check_sizes(texts, weights);
            const Unlocked released;
            return usage(self, texts, threads, weights);
          },
          "texts"_a, "threads"_a, "weights"_a = nb::list(),
          "How often each id occurs in the encodings of the texts, each counted by its weight.")
      .def(
          "decode",
          [](const Encoder& self, const Ids& ids) {
            const std::string bytes = decode(self, ids);
            return nb::bytes(bytes.data(), bytes.size());
          },
          "ids"_a)
      .def("parts_without", &Encoder::parts_without, Released(),
           "By entry, the fewest other entries that its text can be written with.")
      .def("states", &Encoder::states,
           "Of each entry: 0 reachable, 1 never made, 2 made from later entries.")
      .def_static("states_of", &Encoder::states_of, "entries"_a, Released(),
                  "The states of these entries by merges, without making an encoder.")
      .def("parts", &Encoder::parts, "entry"_a,
           "The two entries that an entry is joined from, or None for a character.");

  bind_surveys(m);
}

}  // namespace supratok
