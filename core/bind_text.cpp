// Words, characters and bigrams of texts.
#include "bigrams.hpp"
#include "bind.hpp"
#include "joints.hpp"

namespace supratok {

void bind_text(nb::module_& m) {
  m.def(
      "split_words",
      [](std::string_view text, bool by_class) {
        Texts words;
        WordReader reader(text, by_class);
        for (Word word; reader.next(word);) words.push_back(word.text);
        return words;
      },
      "text"_a, "by_class"_a = true, "The words of a text, in order; they add up to it.");
  m.def(
      "are_words",
      [](const Texts& texts, bool by_class) {
        std::vector<uint8_t> whole;
        for (const std::string_view text : texts) {
          Word word{};
          whole.push_back(WordReader(text, by_class).next(word) && word.text.size() == text.size());
        }
        return whole;
      },
      "texts"_a, "by_class"_a = true, "Of each text, whether it is one word.");
  m.def(
      "char_class",
      [](std::string_view character) {
        if (character.empty() || character.size() != char_bytes(character[0]))
          throw nb::value_error("one character");
        const CharInfo info = char_info(decode_char(character.data()));
        return std::pair(static_cast<int>(info.cls), static_cast<int>(info.script));
      },
      "character"_a, "The class of a character (see core/text.hpp) and the number of its script.");
  m.def("bigram_entropy", &bigram_entropy, "text"_a,
        "The entropy in bits of the pairs of neighbouring characters.");
  m.def("bigram_entropies", &bigram_entropies, "texts"_a, "threads"_a, Released(),
        "The same of each text.");

  nb::class_<Joints>(m, "Joints")
      .def(nb::init<bool, bool, bool, std::string_view, std::string_view, std::string_view,
                    std::string_view>(),
           nb::kw_only(), "by_class"_a = true, "numbers"_a = true, "marks"_a = true, "stops"_a = "",
           "spaced_stops"_a = "", "closing"_a = "", "spaced_ends"_a = "",
           "Words that end with a stop do not join the next; see core/joints.hpp.")
      .def(
          "allow",
          [](const Joints& self, std::string_view left, std::string_view right) {
            Word first{}, second{};
            WordReader(left, self.by_class()).next(first);
            WordReader(right, self.by_class()).next(second);
            return self.allow(first, second);
          },
          "left"_a, "right"_a, "Whether two neighbouring words may share a token.");
}

}  // namespace supratok
