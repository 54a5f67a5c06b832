// The only file that knows Python: arguments in, results out, the GIL let go in between.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "bigrams.hpp"
#include "counts.hpp"
#include "encode.hpp"
#include "entropy.hpp"
#include "merge.hpp"
#include "ngrams.hpp"
#include "spans.hpp"
#include "survey.hpp"
#include "text.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace supratok {
namespace {

// A view of a str's UTF-8, which the str keeps. A lone surrogate has none: Python's error goes up.
std::string_view view(nb::handle text) {
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (!data) throw nb::python_error();
  return {data, static_cast<size_t>(size)};
}

std::vector<std::string_view> views(const nb::list& texts) {
  std::vector<std::string_view> all;
  all.reserve(nb::len(texts));
  for (nb::handle text : texts) all.push_back(view(text));
  return all;
}

nb::str str(std::string_view text) {
  return nb::str(text.data(), text.size());
}

template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> array(std::vector<T> values) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return {kept->data(), {kept->size()}, owner};
}

nb::list to_list(const std::vector<uint32_t>& ids) {
  nb::list list = nb::steal<nb::list>(PyList_New(static_cast<Py_ssize_t>(ids.size())));
  if (!list.is_valid()) throw nb::python_error();
  for (size_t i = 0; i < ids.size(); ++i) {
    PyObject* number = PyLong_FromUnsignedLong(ids[i]);
    if (!number) throw nb::python_error();
    PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i), number);
  }
  return list;
}

// The ids of a text. The GIL is let go only where the text is long enough to be worth it.
std::vector<uint32_t> encode(const Encoder& encoder, nb::str text) {
  std::vector<uint32_t> ids;
  const std::string_view utf8 = view(text);
  std::optional<nb::gil_scoped_release> released;
  if (utf8.size() > 4096) released.emplace();
  encoder.encode(utf8, ids);
  return ids;
}

// The entropy of a text's character bigrams; the counter of this thread is used again and again.
double bigram_entropy(std::string_view utf8) {
  thread_local BigramCounter counter;
  return counter.entropy(utf8);
}

constexpr size_t kPortion = 1 << 17;  // bytes of text between two looks at the GIL

// Runs work(i) for every i on `threads` threads, the calling one included. A worker takes the GIL
// only where `work` asks for it. The first exception stops the rest and goes up.
template <class Work>
void in_parallel(size_t items, size_t threads, Work work) {
  std::atomic<size_t> next{0};
  std::exception_ptr failure;
  std::mutex failure_lock;
  const auto loop = [&] {
    try {
      for (size_t i; (i = next.fetch_add(1)) < items;) work(i);
    } catch (...) {
      next = items;
      const std::lock_guard guard(failure_lock);
      if (!failure) failure = std::current_exception();
    }
  };
  {
    nb::gil_scoped_release released;
    std::vector<std::thread> helpers;
    for (size_t t = 1; t < std::min(threads, items); ++t) helpers.emplace_back(loop);
    loop();
    for (std::thread& helper : helpers) helper.join();
  }
  if (failure) std::rethrow_exception(failure);
}

std::vector<std::string> strings(const nb::list& texts) {
  std::vector<std::string> all;
  for (const std::string_view text : views(texts)) all.emplace_back(text);
  return all;
}

// Reads the documents here, under the GIL, while other threads count.
template <class Table>
void count_all(Table& table, nb::iterable documents, size_t threads) {
  Counting counting(table, threads);
  for (nb::handle document : documents) {
    if (!counting.add(view(document))) continue;
    nb::gil_scoped_release released;
    counting.hand_over();
  }
  nb::gil_scoped_release released;
  counting.finish();
}

// The rows of a table: a list of texts and an array of counts.
nb::tuple columns(const std::vector<Row>& rows) {
  nb::list texts;
  std::vector<int64_t> counts;
  for (const auto& [text, count] : rows) {
    texts.append(str(text));
    counts.push_back(count);
  }
  return nb::make_tuple(texts, array(std::move(counts)));
}

using Counts = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class Table>
void add_rows(Table& table, const nb::list& texts, const Counts& counts) {
  if (nb::len(texts) != counts.size()) throw nb::value_error("as many texts as counts");
  size_t i = 0;
  for (const std::string_view text : views(texts)) table.add_row(text, counts.data()[i++]);
}

// Offsets in characters, as Python counts them. The bytes of one character share its offsets.
nb::list offsets(const Encoder& encoder, std::string_view text, const std::vector<uint32_t>& ids) {
  const auto leads = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; };
  nb::list spans;
  size_t byte = 0, chars = 0;  // characters begun before `byte`
  for (const uint32_t id : ids) {
    const size_t end = byte + encoder.bytes_of(id).size();
    const size_t first = leads(text[byte]) ? chars : chars - 1;
    for (; byte < end; ++byte) chars += leads(text[byte]);
    spans.append(nb::make_tuple(first, chars));
  }
  return spans;
}

}  // namespace
}  // namespace supratok

NB_MODULE(_core, m) {
  using namespace supratok;
  m.doc() = "The mechanism of supratok: counting, merging, encoding.";

  m.def(
      "split_words",
      [](nb::str text, bool by_class) {
        nb::list words;
        WordReader reader(view(text), by_class);
        for (Word word; reader.next(word);) words.append(str(word.text));
        return words;
      },
      "text"_a, "by_class"_a = true, "The words of a text, in order; they add up to it.");

  m.def(
      "char_class",
      [](nb::str character) {
        const std::string_view utf8 = view(character);
        if (utf8.empty() || utf8.size() != char_bytes(utf8[0]))
          throw nb::value_error("one character");
        const CharInfo info = char_info(decode_char(utf8.data()));
        return nb::make_tuple(static_cast<int>(info.cls), static_cast<int>(info.script));
      },
      "character"_a, "The class of a character (see core/text.hpp) and the number of its script.");

  m.def(
      "bigram_entropy",
      [](nb::str text) {
        const std::string_view utf8 = view(text);
        std::optional<nb::gil_scoped_release> released;
        if (utf8.size() > 1 << 16) released.emplace();
        return bigram_entropy(utf8);
      },
      "text"_a, "The entropy in bits of the pairs of neighbouring characters.");
  m.def(
      "bigram_entropies",
      [](nb::list texts, size_t threads) {
        const auto all = views(texts);
        std::vector<double> bits(all.size());
        in_parallel(all.size(), threads, [&](size_t i) { bits[i] = bigram_entropy(all[i]); });
        return array(std::move(bits));
      },
      "texts"_a, "threads"_a, "The same of each text.");

  nb::class_<Joints>(m, "Joints")
      .def(
          "__init__",
          [](Joints* self, bool cross_sentence, bool cross_colon, bool numbers, bool by_class) {
            new (self) Joints{cross_sentence, cross_colon, numbers, by_class};
          },
          nb::kw_only(), "cross_sentence"_a, "cross_colon"_a, "numbers"_a, "by_class"_a = true)
      .def(
          "allow",
          [](const Joints& self, nb::str left, nb::str right) {
            const auto word = [&](nb::str text) {
              Word read{};
              WordReader(view(text), self.by_class).next(read);
              return read;
            };
            return self.allow(word(left), word(right));
          },
          "left"_a, "right"_a, "Whether two neighbouring words may share a token.");

  nb::class_<Limits>(m, "Limits")
      .def(
          "__init__",
          [](Limits* self, uint32_t bytes, uint32_t units, bool one_script, uint32_t spaces,
             uint32_t digits, nb::list names) {
            const auto texts = strings(names);
            new (self)
                Limits{bytes, units, one_script, spaces, digits, {texts.begin(), texts.end()}};
          },
          nb::kw_only(), "bytes"_a, "units"_a, "one_script"_a, "spaces"_a = 0xffffffffu,
          "digits"_a = 0xffffffffu, "names"_a = nb::list());

  nb::class_<WordTable>(m, "WordTable")
      .def(nb::init<int, bool>(), "sketch_bits"_a, "by_class"_a = true)
      .def(
          "count",
          [](WordTable& self, nb::iterable documents, size_t threads) {
            count_all(self, documents, threads);
          },
          "documents"_a, "threads"_a)
      .def(
          "add_rows",
          [](WordTable& self, nb::list texts, const Counts& counts) {
            add_rows(self, texts, counts);
          },
          "texts"_a, "counts"_a)
      .def(
          "rows", [](const WordTable& self, int64_t least) { return columns(self.rows(least)); },
          "least"_a = 1, "The words seen at least so often, most frequent first.")
      .def(
          "counts_of",
          [](const WordTable& self, nb::list texts) {
            std::vector<int64_t> counts;
            for (const std::string_view text : views(texts))
              counts.push_back(self.words.find(text));
            return array(std::move(counts));
          },
          "texts"_a, "How often each of these words was seen.")
      .def(
          "totals",
          [](const WordTable& self) {
            std::vector<int64_t> totals(static_cast<size_t>(CharClass::Extend));
            self.words.each([&](std::string_view text, int64_t count) {
              WordReader reader(text, self.by_class());
              for (Word word; reader.next(word);) totals[static_cast<size_t>(word.cls)] += count;
            });
            return array(std::move(totals));
          },
          "How many words were seen of each class (see core/text.hpp).")
      .def(
          "rows_of_script",
          [](const WordTable& self, uint8_t script) {
            return columns(self.rows_of_script(script));
          },
          "script"_a, "Only the words of a script, by its number.")
      .def("__len__", [](const WordTable& self) { return self.words.size(); })
      .def(
          "characters",
          [](const WordTable& self) {
            std::vector<int64_t> counts(0x110000);
            self.words.each([&](std::string_view text, int64_t count) {
              for (size_t i = 0; i < text.size(); i += char_bytes(text[i]))
                counts[decode_char(text.data() + i)] += count;
            });
            return array(std::move(counts));
          },
          "How often each code point was seen, an array of 0x110000.")
      .def("sketch", [](const WordTable& self) { return array(self.pairs.counters()); })
      .def(
          "add_sketch",
          [](WordTable& self,
             nb::ndarray<const uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> more) {
            self.pairs.merge(more.data(), more.size());
          },
          "counters"_a)
      .def(
          "pairs_at_least",
          [](const WordTable& self, uint32_t count) { return self.pairs.at_least(count); },
          "count"_a, "About how many pairs of neighbouring words were seen this often.");

  nb::class_<RunTable>(m, "RunTable")
      .def(
          "__init__",
          [](RunTable* self, nb::list known_words, const WordTable& words, const Joints& joints,
             uint32_t floor, const Encoder* pieces, const std::vector<uint8_t>& scripts) {
            Pieces cut{pieces, {}};
            for (const uint8_t script : scripts) cut.scripts[script] = true;
            new (self) RunTable(strings(known_words), words.pairs, joints, floor, cut);
          },
          "known_words"_a, "words"_a, "joints"_a, "floor"_a, "pieces"_a.none() = nb::none(),
          "scripts"_a = std::vector<uint8_t>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 6>(),
          "With `pieces`, words of these scripts that are not known stand in the pieces it gives.")
      .def(
          "count",
          [](RunTable& self, nb::iterable documents, size_t threads) {
            count_all(self, documents, threads);
          },
          "documents"_a, "threads"_a)
      .def(
          "add_rows",
          [](RunTable& self, nb::list texts, const Counts& counts) {
            add_rows(self, texts, counts);
          },
          "texts"_a, "counts"_a)
      .def("rows", [](const RunTable& self) { return columns(self.rows()); })
      .def(
          "bound_units",
          [](RunTable& self, nb::iterable documents, size_t threads, int sketch_bits) {
            UnitPairs bounds(self, sketch_bits);
            count_all(bounds, documents, threads);
            self.bound_units(std::move(bounds.pairs));
            return array(std::move(bounds.uses));
          },
          "documents"_a, "threads"_a, "sketch_bits"_a,
          "Needed before `count` where words stand in pieces: bounds the pairs of those, too. "
          "Returns how often each known word was seen, as a word or a piece.")
      .def(
          "ngrams",
          [](RunTable& self, size_t longest, int64_t min_count) {
            Ngrams found;
            {
              nb::gil_scoped_release released;
              found = count_ngrams(Sequences::of_runs(self.runs, false),
                                   static_cast<uint32_t>(self.known_words()), longest, min_count);
            }
            return nb::make_tuple(array(std::move(found.lefts)), array(std::move(found.rights)),
                                  array(std::move(found.counts)), array(std::move(found.tried)),
                                  array(std::move(found.frequent)));
          },
          "longest"_a, "min_count"_a,
          "N-grams of words: of each its first and its last n-1 words, as numbers (the known "
          "words, "
          "then the n-grams, in order), and its count; then, by length from 2, how many different "
          "ones were counted and how many are frequent.")
      .def("__len__", [](const RunTable& self) { return self.runs.size(); });

  nb::class_<Bigrams>(m, "Bigrams")
      .def(
          "__init__",
          [](Bigrams* self, const WordTable& words, const std::vector<uint8_t>& scripts) {
            nb::gil_scoped_release released;
            new (self) Bigrams(words.words, scripts);
          },
          "words"_a, "scripts"_a)
      .def(
          "below",
          [](const Bigrams& self, int64_t count) {
            const auto [bigrams, occurrences] = self.below(count);
            return nb::make_tuple(bigrams, occurrences);
          },
          "count"_a, "How many bigrams were seen less often than this, and how often in all.")
      .def("__len__", [](const Bigrams& self) { return self.size(); });

  nb::class_<SpanTable>(m, "SpanTable")
      .def(
          "__init__",
          [](SpanTable* self, nb::list words, std::vector<uint32_t> groups,
             std::vector<uint8_t> begins, size_t max_words) {
            new (self) SpanTable(strings(words), std::move(groups), std::move(begins), max_words);
          },
          "words"_a, "groups"_a, "begins"_a, "max_words"_a)
      .def(
          "find",
          [](SpanTable& self, nb::list documents, const WordTable& words, uint32_t floor) {
            const auto utf8 = views(documents);
            SpanTable::Found found;
            {
              nb::gil_scoped_release released;
              found = self.find(utf8, words.pairs, floor);
            }
            return nb::make_tuple(
                found.spans, found.rare, found.not_beginning,
                array(std::vector<int64_t>(found.by_class.begin(), found.by_class.end())));
          },
          "documents"_a, "words"_a, "floor"_a,
          "Adds the spans of the documents whose every pair may have been seen `floor` times. What "
          "became of all stretches of words: spans, rare, not beginning, and by class.")
      .def(
          "count",
          [](SpanTable& self, nb::iterable documents, size_t threads) {
            count_all(self, documents, threads);
          },
          "documents"_a, "threads"_a)
      .def(
          "take_counts",
          [](SpanTable& self) {
            SpanTable::Counts counts = self.take_counts();
            return nb::make_tuple(array(std::move(counts.spans)),
                                  array(std::move(counts.span_documents)),
                                  array(std::move(counts.group_documents)),
                                  array(std::move(counts.stretches)), counts.documents);
          },
          "What was counted since the last time: spans, the documents with each, the documents "
          "with "
          "each group, stretches of 1, 2, ... letter words, documents.")
      .def(
          "rows", [](const SpanTable& self) { return array(std::vector<uint32_t>(self.rows())); },
          "The words of each span, max_words numbers a span; 2**32 - 1 where it is shorter.")
      .def("__len__", [](const SpanTable& self) { return self.size(); });

  nb::class_<NeighbourTable>(m, "NeighbourTable")
      .def(nb::init<const SpanTable&, const std::vector<uint32_t>&>(), "table"_a, "spans"_a,
           nb::keep_alive<1, 2>())
      .def(
          "count",
          [](NeighbourTable& self, nb::iterable documents, size_t threads) {
            count_all(self, documents, threads);
          },
          "documents"_a, "threads"_a)
      .def(
          "summary",
          [](const NeighbourTable& self) {
            NeighbourTable::Summary all;
            {
              nb::gil_scoped_release released;
              all = self.summary();
            }
            return nb::make_tuple(
                array(std::move(all.entropies[0])), array(std::move(all.peaks[0])),
                array(std::move(all.entropies[1])), array(std::move(all.peaks[1])));
          },
          "By span: entropy and share of the most frequent neighbour, before and after it.");

  nb::class_<StretchTable>(m, "StretchTable")
      .def(nb::init<Joints>(), "joints"_a)
      .def(
          "count",
          [](StretchTable& self, nb::iterable documents, size_t threads) {
            count_all(self, documents, threads);
          },
          "documents"_a, "threads"_a)
      .def("__len__", [](const StretchTable& self) { return self.stretches.size(); });

  nb::class_<Sequences>(m, "Sequences")
      .def_static(
          "of_stretches",
          [](StretchTable& stretches, std::vector<uint32_t> alphabet) {
            nb::gil_scoped_release released;
            return Sequences::of_words(stretches.stretches, alphabet);
          },
          "stretches"_a, "alphabet"_a)
      .def_static(
          "of_words",
          [](WordTable& words, std::vector<uint32_t> alphabet, const Bigrams* bigrams, int64_t gate,
             nb::list changes, std::optional<Counts> by) {
            const auto texts = views(changes);
            if (texts.size() != (by ? by->size() : 0))
              throw nb::value_error("as many changed words as changes");
            nb::gil_scoped_release released;
            TextCounts changed(true);
            for (size_t i = 0; i < texts.size(); ++i)
              changed.add(texts[i], static_cast<uint32_t>(hash_bytes(texts[i])), by->data()[i]);
            return Sequences::of_words(words.words, alphabet, bigrams, gate, &changed);
          },
          "words"_a, "alphabet"_a, "bigrams"_a = nb::none(), "gate"_a = 0, "changes"_a = nb::list(),
          "by"_a = nb::none(),
          "Words are cut at characters outside the alphabet, and at bigrams rarer than the gate. "
          "Here, the counts of the words in `changes` change `by` so much; the table keeps its "
          "own.")
      .def_static(
          "of_runs",
          [](RunTable& runs) {
            nb::gil_scoped_release released;
            return Sequences::of_runs(runs.runs, true);
          },
          "runs"_a)
      .def("__len__", [](const Sequences& self) { return self.cells.size(); });

  nb::class_<Merger>(m, "Merger")
      .def_static(
          "over_characters",
          [](const Sequences& words, std::vector<uint32_t> alphabet, const Limits& limits,
             int64_t min_count) {
            nb::gil_scoped_release released;
            return Merger(words, Merger::characters(alphabet), limits, min_count);
          },
          "words"_a, "alphabet"_a, "limits"_a, "min_count"_a)
      .def_static(
          "over_words",
          [](Sequences& runs, nb::list words, const Limits& limits, int64_t min_count,
             bool by_class, std::vector<double> bits, double least, nb::list always) {
            const auto texts = strings(words), welcome = strings(always);
            nb::gil_scoped_release released;
            Screen screen{std::move(bits), least, {welcome.begin(), welcome.end()}};
            return Merger(std::exchange(runs, {}), Merger::words(texts, by_class), limits,
                          min_count, std::move(screen));
          },
          "runs"_a, "words"_a, "limits"_a, "min_count"_a, "by_class"_a = true,
          "bits"_a = std::vector<double>(), "least"_a = 0.0, "always"_a = nb::list(),
          "Over runs of these words, the ones that the runs were counted with. Empties `runs`.")
      .def(
          "run",
          [](Merger& self, size_t count) {
            nb::gil_scoped_release released;
            return self.run(count);
          },
          "count"_a)
      .def(
          "texts",
          [](const Merger& self) {
            nb::list texts;
            const size_t first = self.symbols().size() - self.merges().size();
            for (size_t i = first; i < self.symbols().size(); ++i)
              texts.append(str(self.symbols()[i].text));
            return texts;
          },
          "The texts of the merges made so far, in order.")
      .def(
          "usage", [](const Merger& self) { return array(self.usage()); },
          "How often each symbol stands in the sequences as they are now.")
      .def(
          "parts",
          [](const Merger& self) {
            std::vector<uint32_t> lefts, rights;
            for (const Merge& merge : self.merges()) {
              lefts.push_back(merge.left);
              rights.push_back(merge.right);
            }
            return nb::make_tuple(array(std::move(lefts)), array(std::move(rights)));
          },
          "The symbols that each merge joined: first those given, then the merges, in order.")
      .def("candidates", [](const Merger& self) { return self.candidates(); })
      .def("screened", [](const Merger& self) { return self.screened(); })
      .def("counts", [](const Merger& self) {
        std::vector<int64_t> counts;
        for (const Merge& merge : self.merges()) counts.push_back(merge.count);
        return array(std::move(counts));
      });

  nb::class_<Encoder>(m, "Encoder")
      .def(
          "__init__",
          [](Encoder* self, nb::list entries, std::vector<int64_t> weights, bool fewest,
             uint32_t first_id, std::vector<uint32_t> ids, std::vector<uint32_t> tied) {
            std::vector<std::string> texts = strings(entries);
            nb::gil_scoped_release released;
            if (weights.size() != texts.size())
              throw std::invalid_argument("as many weights as entries");
            new (self) Encoder(std::move(texts), weights, fewest ? Rule::Fewest : Rule::Merges,
                               first_id, std::move(ids), tied);
          },
          "entries"_a, "weights"_a, nb::kw_only(), "fewest"_a, "first_id"_a,
          "ids"_a = std::vector<uint32_t>(), "tied"_a = std::vector<uint32_t>())
      .def(
          "encode", [](const Encoder& self, nb::str text) { return to_list(encode(self, text)); },
          "text"_a)
      .def(
          "encode_array",
          [](const Encoder& self, nb::str text) { return array(encode(self, text)); }, "text"_a)
      .def(
          "encode_batch",
          [](const Encoder& self, nb::list texts, size_t threads, bool arrays) {
            const auto utf8 = views(texts);
            nb::list results;
            for (size_t i = 0; i < utf8.size(); ++i) results.append(nb::none());
            // Portions of text, so that the GIL is asked for once for many short texts.
            std::vector<size_t> ends;
            for (size_t i = 0, bytes = 0; i < utf8.size(); ++i) {
              bytes += utf8[i].size();
              if (bytes < kPortion && i + 1 < utf8.size()) continue;
              ends.push_back(i + 1);
              bytes = 0;
            }
            in_parallel(ends.size(), threads, [&](size_t portion) {
              const size_t first = portion ? ends[portion - 1] : 0;
              std::vector<std::vector<uint32_t>> ids(ends[portion] - first);
              for (size_t i = 0; i < ids.size(); ++i) self.encode(utf8[first + i], ids[i]);
              nb::gil_scoped_acquire held;
              for (size_t i = 0; i < ids.size(); ++i) {
                if (arrays)
                  results[first + i] = array(std::move(ids[i]));
                else
                  results[first + i] = to_list(ids[i]);
              }
            });
            return results;
          },
          "texts"_a, "threads"_a, "arrays"_a)
      .def(
          "encode_with_offsets",
          [](const Encoder& self, nb::str text) {
            const std::vector<uint32_t> ids = encode(self, text);
            return nb::make_tuple(to_list(ids), offsets(self, view(text), ids));
          },
          "text"_a)
      .def(
          "count",
          [](const Encoder& self, nb::str text) {
            const std::string_view utf8 = view(text);
            nb::gil_scoped_release released;
            return self.count(utf8);
          },
          "text"_a)
      .def(
          "usage",
          [](const Encoder& self, nb::list texts, size_t threads, std::optional<Counts> weights) {
            const auto utf8 = views(texts);
            if (weights && weights->size() != utf8.size())
              throw nb::value_error("as many weights as texts");
            std::vector<int64_t> uses(self.end_id());
            std::mutex lock;
            in_parallel(utf8.size(), threads, [&](size_t i) {
              std::vector<uint32_t> ids;
              self.encode(utf8[i], ids);
              const int64_t weight = weights ? weights->data()[i] : 1;
              const std::lock_guard guard(lock);
              for (const uint32_t id : ids) uses[id] += weight;
            });
            return array(std::move(uses));
          },
          "texts"_a, "threads"_a, "weights"_a = nb::none(),
          "How often each id occurs in the encodings of the texts, each text counted by its "
          "weight.")
      .def(
          "decode",
          [](const Encoder& self, const std::vector<uint32_t>& ids) {
            std::string bytes;
            for (const uint32_t id : ids) {
              if (!self.knows(id))
                throw nb::index_error(("no token has the id " + std::to_string(id)).c_str());
              bytes += self.bytes_of(id);
            }
            return nb::bytes(bytes.data(), bytes.size());
          },
          "ids"_a)
      .def(
          "parts_without", [](const Encoder& self) { return array(self.parts_without()); },
          "By entry, the fewest other entries that its text can be written with.")
      .def(
          "states",
          [](const Encoder& self) {
            std::vector<uint8_t> states;
            for (const EntryState state : self.states())
              states.push_back(static_cast<uint8_t>(state));
            return array(std::move(states));
          },
          "Of each entry: 0 reachable, 1 never made, 2 made from later entries.")
      .def(
          "parts",
          [](const Encoder& self, uint32_t entry) -> nb::object {
            const auto [left, right] = self.parts(entry);
            if (left == Encoder::kNone) return nb::none();
            return nb::make_tuple(left, right);
          },
          "entry"_a, "The two entries that an entry is joined from, or None for a character.");

  nb::class_<Survey>(m, "Survey")
      .def(nb::init<const Encoder&, int>(), "encoder"_a, "sketch_bits"_a, nb::keep_alive<1, 2>())
      .def(
          "count",
          [](Survey& self, nb::iterable documents, size_t threads) {
            count_all(self, documents, threads);
          },
          "documents"_a, "threads"_a)
      .def("uses", [](const Survey& self) { return array(self.uses); })
      .def("documents", [](const Survey& self) { return array(self.documents); });

  nb::class_<Neighbours>(m, "Neighbours")
      .def(nb::init<const Encoder&, const Survey&, uint32_t>(), "encoder"_a, "survey"_a, "floor"_a,
           nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
      .def(
          "count",
          [](Neighbours& self, nb::iterable documents, size_t threads) {
            count_all(self, documents, threads);
          },
          "documents"_a, "threads"_a)
      .def(
          "rows",
          [](const Neighbours& self) {
            std::vector<uint32_t> lefts, rights;
            std::vector<int64_t> counts;
            for (const auto& [left, right, count] : self.rows()) {
              lefts.push_back(left);
              rights.push_back(right);
              counts.push_back(count);
            }
            return nb::make_tuple(array(std::move(lefts)), array(std::move(rights)),
                                  array(std::move(counts)));
          },
          "Left entries, right entries, counts; most frequent first.");
}
