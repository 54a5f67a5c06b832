// Encoders, and surveys of their encodings.
#include "bind_ids.hpp"
#include "bind_pieces.hpp"
#include "bind_rows.hpp"
#include "decode.hpp"
#include "dropout.hpp"
#include "survey.hpp"

namespace supratok {
namespace {

bool is_long(nb::handle text) {
  return PyUnicode_GetLength(text.ptr()) > 1 << 14;
}

// How many ids a long text may have, if that is not too much; else enough for most texts. What is
// not written to is not taken from the machine's memory.
size_t room_for(nb::handle text) {
  const auto size = static_cast<size_t>(PyUnicode_GetLength(text.ptr()));
  return std::max(size / 3, std::min<size_t>(4 * size, 1 << 24));
}

// Calls write(ids, the released GIL) for portions of a long text, in order.
template <class Coder, class Write>
void encode_long(const Coder& coder, nb::handle text, Write write) {
  Pieces pieces(text);
  const bool in_pieces = std::is_same_v<Coder, Encoder> && pieces.readable();
  const std::string_view all = in_pieces ? "" : view(text);
  {
    Unlocked released;
    const auto pass_on = [&](std::span<const uint32_t> ids) { write(ids, released); };
    if (!in_pieces)
      coder.encode_to(all, pass_on);
    else if constexpr (std::is_same_v<Coder, Encoder>)
      coder.encode_pieces([&](std::string& room) { return pieces.next(room); }, pass_on);
  }
  if (pieces.broken()) view(text);  // Python's error
}

// Calls use(ids) with the GIL.
template <class Coder, class Use>
nb::object encode(const Coder& coder, nb::handle text, Use use) {
  if (is_long(text)) {
    Ids ids;
    ids.reserve(room_for(text));
    encode_long(coder, text, [&](std::span<const uint32_t> some, Unlocked&) {
      ids.insert(ids.end(), some.begin(), some.end());
    });
    return in_python([&] { return use(ids); });
  }
  const std::string_view all = view(text);
  Scratch<uint32_t, 6> ids(0);
  ids.values.clear();
  work_on(all.size(), [&] { coder.encode(all, ids.values); });
  return in_python([&] { return use(ids.values); });
}

// An array of the ids. Those of a long text are written straight to its memory.
template <class Coder>
nb::object encode_array(const Coder& coder, nb::handle text) {
  if (!is_long(text)) return encode(coder, text, to_array);
  NewArray<int64_t> array(room_for(text));
  encode_long(coder, text, [&](std::span<const uint32_t> ids, Unlocked& released) {
    if (ids.size() > array.left()) released.locked([&] { array.grow(ids.size()); });
    array.add(ids);
  });
  return in_python([&] { return array.take(); });
}

// A list of so many None.
nb::object new_results(size_t size) {
  nb::object results = nb::steal(PyList_New(static_cast<Py_ssize_t>(size)));
  if (!results.is_valid()) throw nb::python_error();
  for (size_t i = 0; i < size; ++i)
    NB_LIST_SET_ITEM(results.ptr(), static_cast<Py_ssize_t>(i), nb::none().release().ptr());
  return results;
}

void set_result(nb::handle results, size_t place, nb::object result) {
  PyList_SetItem(results.ptr(), static_cast<Py_ssize_t>(place), result.release().ptr());
}

template <class Coder>
nb::object encode_batch(const Coder& coder, const Texts& texts, size_t threads, bool arrays) {
  const nb::object results = new_results(texts.size());
  std::vector<std::pair<size_t, Encodings>> ready;
  std::mutex lock;
  Unlocked released;
  const auto add = [&](size_t first, Encodings encodings) {
    const std::lock_guard guard(lock);
    ready.emplace_back(first, std::move(encodings));
  };
  const auto collect = [&] {  // only the calling thread touches Python
    std::unique_lock guard(lock);
    const auto some = std::exchange(ready, {});
    guard.unlock();
    if (some.empty()) return;
    released.locked([&] {
      for (const auto& [first, all] : some)
        for (size_t i = 0; i < all.size(); ++i)
          set_result(results, first + i, arrays ? to_array(all[i]) : to_list(all[i]));
    });
  };
  encode_all(coder, texts, threads, add, collect);
  return results;
}

nb::object as_python(const std::string& bytes, bool text) {
  const auto size = static_cast<Py_ssize_t>(bytes.size());
  auto made = nb::steal(text ? PyUnicode_DecodeUTF8(bytes.data(), size, "replace")
                             : PyBytes_FromStringAndSize(bytes.data(), size));
  if (!made.is_valid()) throw nb::python_error();
  return made;
}

// Each sequence of ids as text, in which U+FFFD stands for what is no UTF-8, or as bytes.
nb::object decode_batch(const Decoder& decoder, const nb::list& batch, bool skip_special,
                        bool text) {
  constexpr size_t kPortion = 1 << 16;  // ids, after which other threads have their turn
  const nb::object results = new_results(nb::len(batch));
  Ids ids;
  std::string bytes;
  for (size_t i = 0, done = 0; i < nb::len(results); ++i) {
    read_ids(nb::object(batch[i]), ids);
    work_on(ids.size(), [&] { decoder.decode(ids, skip_special, bytes); });
    set_result(results, i, as_python(bytes, text));
    done += ids.size();
    if (done < kPortion) continue;
    const Unlocked released;
    breathe();
    done = 0;
  }
  return results;
}

// The ids of the documents in some whole lines of JSON, one after another, each with `end` behind
// it, and how many ids each has. Nothing if a line is odd (see lines.hpp): then Python reads them
// all.
template <class Coder>
nb::object encode_lines(const Coder& coder, const std::string& data, std::string_view key,
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
      coder.encode(text, part.ids);
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

// What encoders have in common with those that cut.
template <class Coder>
void def_encoding(nb::class_<Coder>& coder) {
  coder
      .def(
          "encode",
          [](const Coder& self, const nb::str& text) { return encode(self, text, to_list); },
          "text"_a)
      .def(
          "encode_array",
          [](const Coder& self, const nb::str& text) { return encode_array(self, text); }, "text"_a)
      .def("encode_batch", &encode_batch<Coder>, "texts"_a, "threads"_a, "arrays"_a)
      .def(
          "encode_dropout",
          [](const Coder& self, const Coder& words, const Texts& texts, size_t threads, bool arrays,
             double probability, uint64_t seed) {
            const Dropout<Coder> dropout(self.encoder(), self, words, probability, seed);
            return encode_batch(dropout, texts, threads, arrays);
          },
          "words"_a, "texts"_a, "threads"_a, "arrays"_a, "probability"_a, "seed"_a,
          "As encode_batch, with each phrase written as `words` does with this probability.")
      .def(
          "encode_lines",
          [](const Coder& self, const nb::bytes& data, std::string_view key, size_t longest,
             std::optional<uint32_t> end, size_t threads) {
            return encode_lines(self, {data.c_str(), data.size()}, key, longest, end, threads);
          },
          "data"_a, "key"_a, "longest"_a, "end"_a.none(), "threads"_a,
          "The ids of the documents in whole lines of JSON, each with `end` behind it, and how "
          "many ids each has; None if a line needs Python.")
      .def(
          "encode_with_offsets",
          [](const Coder& self, std::string_view text) {
            Ids ids;
            Places places;
            work_on(text.size(), [&] { locate(self, text, ids, places); });
            return std::pair(to_list(ids), places);
          },
          "text"_a)
      .def(
          "count",
          [](const Coder& self, std::string_view text) {
            size_t count = 0;
            work_on(text.size(), [&] { count = self.count(text); });
            return count;
          },
          "text"_a)
      .def(
          "usage",
          [](const Coder& self, const Texts& texts, size_t threads, const Counts& weights) {
            if (!weights.empty()) check_sizes(texts, weights);
            const Unlocked released;
            return usage(self, texts, threads, weights);
          },
          "texts"_a, "threads"_a, "weights"_a = nb::list(),
          "How often each id occurs in the encodings of the texts, each counted by its weight.");
}

}  // namespace

void bind_encode(nb::module_& m) {
  m.attr("MOST_TOKENS") = TrieSlots::kMostNodes;
  nb::class_<Encoder> encoder(m, "Encoder");
  encoder.def(nb::init<Strings, const Counts&, bool, uint32_t, Ids, const Ids&>(), "entries"_a,
              "weights"_a, nb::kw_only(), "fewest"_a, "first_id"_a, "ids"_a = nb::list(),
              "tied"_a = nb::list(), Released());
  def_encoding(encoder);
  encoder
      .def(
          "decode",
          [](const Encoder& self, const Ids& ids) {
            std::string bytes;
            Decoder(self, {}, {}, 0, false).decode(ids, false, bytes);
            return as_python(bytes, false);
          },
          "ids"_a)
      .def("parts_without", &Encoder::parts_without, Released(),
           "By entry, the fewest other entries that its text can be written with.")
      .def("states", &Encoder::states,
           "Of each entry: 0 reachable, 1 never made, 2 made from later entries.")
      .def(
          "first_bad",
          [](const Encoder& self) -> std::optional<size_t> {
            const auto& all = self.states();
            const auto bad = std::find_if(all.begin(), all.end(), [](uint8_t s) { return s; });
            if (bad == all.end()) return {};
            return static_cast<size_t>(bad - all.begin());
          },
          "The first entry that is not reachable, or None.")
      .def_static("states_of", &Encoder::states_of, "entries"_a, Released(),
                  "The states of these entries by merges, without making an encoder.")
      .def("parts", &Encoder::parts, "entry"_a,
           "The two entries that an entry is joined from, or None for a character.");

  nb::class_<Cutting> cutting(m, "Cutting");
  cutting.def(nb::init<const Encoder&, const Cutting*, const Texts&, Ids, std::string_view>(),
              "encoder"_a, "next"_a.none(), "texts"_a, "ids"_a, "prefix"_a, nb::keep_alive<1, 2>(),
              nb::keep_alive<1, 3>(),
              "Cuts texts out, which have these ids; the next cutting or the encoder encodes the "
              "rest. The prefix comes before the first stretch that is not empty.");
  def_encoding(cutting);

  nb::class_<Decoder>(m, "Decoder")
      .def(nb::init<const Encoder&, const Ids&, const Texts&, size_t, bool>(), "encoder"_a, "ids"_a,
           "texts"_a, "special"_a, "prefixed"_a, nb::keep_alive<1, 2>(),
           "Knows the ids of the encoder and these, of which the first so many are special tokens. "
           "`prefixed`: takes off the space that encoding puts before each text.")
      .def("decode_batch", &decode_batch, "batch"_a, "skip_special"_a, "text"_a,
           "Each list or array of ids as a str or as bytes. An IndexError or OverflowError: no "
           "token has such an id; a TypeError: something is neither list nor array.");

  bind_surveys(m);
}

}  // namespace supratok
