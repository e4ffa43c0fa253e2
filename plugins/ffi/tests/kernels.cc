// Kernels for the tests.

#include <cstring>
#include <string>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

// a * x + y, with a type and a rank that XLA checks.
using Vector = ffi::Buffer<ffi::F32, 1>;
static ffi::Error Axpy(Vector x, Vector y, ffi::Result<Vector> out, float a) {
  for (size_t i = 0; i < x.element_count(); ++i) {
    out->typed_data()[i] = a * x.typed_data()[i] + y.typed_data()[i];
  }
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(AxpyHandler, Axpy,
                              ffi::Ffi::Bind()
                                  .Arg<Vector>()
                                  .Arg<Vector>()
                                  .Ret<Vector>()
                                  .Attr<float>("a"));

// The bytes of x, as they are in memory, and how often the kernel was called.
static int64_t calls = 0;
static ffi::Error Bytes(ffi::AnyBuffer x, ffi::Result<ffi::AnyBuffer> out,
                        ffi::ResultBuffer<ffi::S64> count) {
  if (out->untyped_data() != x.untyped_data()) {
    std::memcpy(out->untyped_data(), x.untyped_data(), x.size_bytes());
  }
  count->typed_data()[0] = ++calls;
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(BytesHandler, Bytes,
                              ffi::Ffi::Bind()
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Ret<ffi::Buffer<ffi::S64>>());

// What the attributes were, put into six numbers.
static ffi::Error Attributes(ffi::ResultBuffer<ffi::F64> out, int64_t n, double x, bool flag,
                             std::string_view name, ffi::Span<const int32_t> list,
                             ffi::Dictionary nested) {
  double* values = out->typed_data();
  values[0] = static_cast<double>(n);
  values[1] = x;
  values[2] = flag ? 1.0 : 0.0;
  values[3] = static_cast<double>(name.size());
  values[4] = static_cast<double>(list[list.size() - 1]);
  auto inner = nested.get<uint8_t>("inner");
  if (inner.has_error()) return inner.error();
  values[5] = static_cast<double>(inner.value());
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(AttributesHandler, Attributes,
                              ffi::Ffi::Bind()
                                  .Ret<ffi::Buffer<ffi::F64>>()
                                  .Attr<int64_t>("n")
                                  .Attr<double>("x")
                                  .Attr<bool>("flag")
                                  .Attr<std::string_view>("name")
                                  .Attr<ffi::Span<const int32_t>>("list")
                                  .Attr<ffi::Dictionary>("nested"));
