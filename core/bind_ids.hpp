// Ids from Python and to it: lists of int, and NumPy arrays.
#pragma once

#include "bind.hpp"

namespace supratok {

// While it lives, and its owner holds the GIL, Python looks for no garbage. A million new lists
// would make it look a thousand times, and they hold nothing but numbers. It looks when something
// else is made.
class Uncollected {
 public:
  Uncollected() : before_(PyGC_Disable()) {}
  ~Uncollected() {
    if (before_) PyGC_Enable();
  }
  Uncollected(const Uncollected&) = delete;

 private:
  const int before_;
};

// The int of an id, made once and kept as long as the process lives. All lists share them: taking
// one costs a fraction of making it, and a list takes 8 bytes an id rather than 40. Call it with
// the GIL.
inline PyObject* new_int(uint32_t id) {
  constexpr size_t kMost = 1 << 20;  // kept: 40 MB at the very most
  static std::vector<PyObject*>& made = *new std::vector<PyObject*>;  // Python may end before it
  if (id >= made.size()) {
    if (id >= kMost) return PyLong_FromUnsignedLong(id);
    made.resize(std::bit_ceil(size_t{id} + 1));
  }
  if (!made[id]) made[id] = PyLong_FromUnsignedLong(id);
  Py_XINCREF(made[id]);
  return made[id];
}

// Releases the GIL only if the work is long enough to be worth it.
template <class Work>
void work_on(size_t size, Work work) {
  std::optional<Unlocked> released;
  if (size > 4096) released.emplace();
  work();
}

inline nb::object to_list(std::span<const uint32_t> ids) {
  const Uncollected uncollected;
  nb::object list = nb::steal(PyList_New(static_cast<Py_ssize_t>(ids.size())));
  if (!list.is_valid()) throw nb::python_error();
  for (size_t i = 0; i < ids.size(); ++i) {
    PyObject* const number = new_int(ids[i]);
    if (!number) throw nb::python_error();
    NB_LIST_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i), number);
  }
  return list;
}

// Of 64 bits, the only width that PyTorch takes both as indices and as targets.
inline nb::object to_array(std::span<const uint32_t> ids) {
  return to_numpy<int64_t>(ids);
}

// An array that is filled from the left; its size is found on the way. All but `add` needs the GIL.
template <class T>
class NewArray {
 public:
  explicit NewArray(size_t room) { open(room); }
  ~NewArray() { PyBuffer_Release(&room_); }
  NewArray(const NewArray&) = delete;

  size_t left() const { return static_cast<size_t>(room_.len) / sizeof(T) - size_; }
  void add(std::span<const uint32_t> some) {
    std::copy(some.begin(), some.end(), static_cast<T*>(room_.buf) + size_);
    size_ += some.size();
  }
  // Makes room for so many more, and for as many as there are.
  void grow(size_t more) {
    const nb::object before = array_;
    Py_buffer old = room_;
    open(2 * size_ + more);
    std::copy_n(static_cast<const T*>(old.buf), size_, static_cast<T*>(room_.buf));
    PyBuffer_Release(&old);
  }
  nb::object take() {
    PyBuffer_Release(&room_);
    array_.attr("resize")(size_, "refcheck"_a = false);  // gives back what is left of its memory
    return std::move(array_);
  }

 private:
  void open(size_t room) {
    nb::object array = new_numpy<T>(room);
    Py_buffer opened;
    if (PyObject_GetBuffer(array.ptr(), &opened, PyBUF_WRITABLE)) throw nb::python_error();
    array_ = std::move(array);
    room_ = opened;
  }

  nb::object array_;
  Py_buffer room_{};
  size_t size_ = 0;
};

// Ids of a list, or of an array of whole numbers in one row; a TypeError says that these are
// neither, an IndexError or OverflowError that no token has such a number.
inline void read_ids(nb::handle given, Numbers& ids) {
  const auto add = [&](auto id) {
    if (!std::in_range<uint32_t>(id))
      throw std::out_of_range("no token has the id " + std::to_string(id));
    ids.push_back(static_cast<uint32_t>(id));
  };
  ids.clear();
  if (PyList_Check(given.ptr())) {
    // The list may change: an item may have an `__index__` that does so.
    for (Py_ssize_t i = 0; i < PyList_Size(given.ptr()); ++i) {
      const nb::object item = nb::borrow(PyList_GetItem(given.ptr(), i));
      const long long id = PyLong_AsLongLong(item.ptr());
      if (id == -1 && PyErr_Occurred()) throw nb::python_error();
      add(id);
    }
    return;
  }
  const Row row(given);
  const auto add_all = [&]<class T>(T) {
    if (!row.holds<T>()) return false;
    for (const T id : row.values<T>()) add(id);
    return true;
  };
  if (!add_all(int64_t{}) && !add_all(int32_t{}) && !add_all(uint32_t{}) && !add_all(uint16_t{}))
    throw nb::type_error("neither a list nor an array of whole numbers");
}

}  // namespace supratok
