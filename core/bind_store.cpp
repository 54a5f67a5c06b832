// The store of documents.
#include "store.hpp"

#include "bind.hpp"

namespace supratok {
namespace {

std::filesystem::path path_of(std::string_view text) {
  return std::u8string(text.begin(), text.end());
}

// Without a folder the file is private, and lies where Python keeps temporary files.
void make(Store* self, std::string_view folder, uint64_t memory) {
  if (!folder.empty()) {
    new (self) Store(path_of(folder), false, memory);
    return;
  }
  new (self) Store(temporary_folder(), true, memory);
}

// With the path.
void to_os_error(const std::exception_ptr& failure, void*) {
  try {
    std::rethrow_exception(failure);
  } catch (const FileError& error) {
    const nb::object values = nb::make_tuple(error.code, error.what(), error.path.c_str());
    PyErr_SetObject(PyExc_OSError, values.ptr());
  }
}

}  // namespace

void bind_store(nb::module_& m) {
  nb::register_exception_translator(to_os_error);
  nb::class_<Store>(m, "Store")
      .def("__init__", &make, "folder"_a = "", "memory"_a = 256 << 20,
           "Documents as numbers of words: in memory up to so many bytes, then in a file; without "
           "a folder in a temporary one.")
      .def_static(
          "open",
          [](std::string_view folder, uint64_t size, uint64_t memory) {
            return new Store(path_of(folder), size, memory);
          },
          "folder"_a, "size"_a, "memory"_a = 0,
          "Goes on with the first `size` bytes of the file, as `flush` returned them.")
      .def("flush", &Store::flush, Released(), "Commits the file; returns its size in bytes.")
      .def(
          "texts",
          [](const Store& self, size_t block) {
            std::string room;
            const Block read = self.block(block);
            nb::list all;
            for (const std::string_view text : read.texts(room)) all.append(text);
            return all;
          },
          "block"_a, "The documents of a block.")
      .def(
          "__iter__",
          [](nb::object self) {
            const nb::object builtins = nb::module_::import_("builtins");
            const nb::object blocks = builtins.attr("range")(self.attr("blocks"));
            return nb::module_::import_("itertools")
                .attr("chain")
                .attr("from_iterable")(builtins.attr("map")(self.attr("texts"), blocks));
          },
          "The documents, in no particular order.")
      .def_prop_ro("blocks", &Store::blocks)
      .def_prop_ro("bytes", [](const Store& self) { return self.totals().bytes; })
      .def_prop_ro("words", [](const Store& self) { return self.totals().words; })
      .def("__len__", [](const Store& self) { return self.totals().documents; });
}

}  // namespace supratok
