// The collective operations as calls with typed arrays. A call becomes a Request; what happens to that, the
// class says which inherits this one: Spmd runs it and returns, SplitPhase starts it.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>

#include "model/spmd/declared.hpp"
#include "model/spmd/request.hpp"

namespace heddle::spmd {

/// Arrays are contiguous, of the same plain type, or Declared; an input and an output that the rank uses must
/// not overlap.
/// `algorithm`: a name, `auto`, or none for that of the options. Operators are associative; one that does not
/// commute is given as InOrder{operator}. Calls throw Error for sizes that do not fit, an unknown algorithm,
/// and where ranks or threads make different calls.
///
/// `Caller` inherits this class and has:
///   rank(), ranks()
///   algorithm_of(operation, name)  the algorithm; null: it is chosen when the call's size is known
///   keep(value)                    the value, or a copy, for as long as the call needs it
///   run(request)                   what a call does; each call returns what this returns
template <class Caller>
class Operations {
public:
    auto barrier(std::string_view algorithm = {}) {
        Request request;
        request.algorithm = caller().algorithm_of(Operation::barrier, algorithm);
        request.by_price = algorithm == automatic;
        return caller().run(request);
    }

    template <Elements Data>
    auto broadcast(Data&& data, RankId root, std::string_view algorithm = {}) {
        Request request = make(Operation::broadcast, algorithm, root, data);
        request.count = elements_in(data);
        return caller().run(request);
    }

    /// `output` is used at the root only.
    template <class Op, Elements In, Elements Out>
    auto reduce(Op op, const In& input, Out&& output, RankId root, std::string_view algorithm = {}) {
        Request request = make(Operation::reduce, algorithm, root, input, output, op);
        request.count = elements_in(input);
        expect(request, caller().rank() != root || elements_in(output) == request.count);
        return caller().run(request);
    }
    template <class Op, Elements In, Elements Out>
    auto all_reduce(Op op, const In& input, Out&& output, std::string_view algorithm = {}) {
        Request request = make(Operation::all_reduce, algorithm, 0, input, output, op);
        request.count = elements_in(input);
        expect(request, elements_in(output) == request.count);
        return caller().run(request);
    }
    template <class Op, Elements In, Elements Out>
    auto reduce_scatter(Op op, const In& input, Out&& output, std::string_view algorithm = {}) {
        Request request = make(Operation::reduce_scatter, algorithm, 0, input, output, op);
        request.count = elements_in(output);
        expect(request, elements_in(input) == request.count * caller().ranks());
        return caller().run(request);
    }
    template <class Op, Elements In, Elements Out>
    auto scan(Op op, const In& input, Out&& output, std::string_view algorithm = {}) {
        Request request = make(Operation::scan, algorithm, 0, input, output, op);
        request.count = elements_in(input);
        expect(request, elements_in(output) == request.count);
        return caller().run(request);
    }

    /// `output` is used at the root only.
    template <Elements In, Elements Out>
    auto gather(const In& input, Out&& output, RankId root, std::string_view algorithm = {}) {
        Request request = make(Operation::gather, algorithm, root, input, output);
        request.count = elements_in(input);
        expect(request, caller().rank() != root || elements_in(output) == request.count * caller().ranks());
        return caller().run(request);
    }
    /// `input` is used at the root only.
    template <Elements In, Elements Out>
    auto scatter(const In& input, Out&& output, RankId root, std::string_view algorithm = {}) {
        Request request = make(Operation::scatter, algorithm, root, input, output);
        request.count = elements_in(output);
        expect(request, caller().rank() != root || elements_in(input) == request.count * caller().ranks());
        return caller().run(request);
    }
    template <Elements In, Elements Out>
    auto all_gather(const In& input, Out&& output, std::string_view algorithm = {}) {
        Request request = make(Operation::all_gather, algorithm, 0, input, output);
        request.count = elements_in(input);
        expect(request, elements_in(output) == request.count * caller().ranks());
        return caller().run(request);
    }
    template <Elements In, Elements Out>
    auto all_to_all(const In& input, Out&& output, std::string_view algorithm = {}) {
        Request request = make(Operation::all_to_all, algorithm, 0, input, output);
        request.count = elements_in(input) / caller().ranks();
        expect(request, elements_in(input) == request.count * caller().ranks() &&
                            elements_in(output) == elements_in(input));
        return caller().run(request);
    }

    /// The calls of redistribution.hpp. The input and the output are the rank's.
    auto exchange(const Exchange& what, std::span<const std::byte> input, std::span<std::byte> output,
                  Index element_bytes) {
        Request request;
        request.exchange = &what;
        request.element_bytes = element_bytes;
        request.input = input.data();
        request.output = output.data();
        expect_apart(request, input.size() / element_bytes, output.size() / element_bytes);
        return caller().run(request);
    }
    /// Both only declared.
    auto exchange(const Exchange& what, Index element_bytes) {
        Request request;
        request.exchange = &what;
        request.element_bytes = element_bytes;
        request.declared = true;
        return caller().run(request);
    }

private:
    Caller& caller() { return static_cast<Caller&>(*this); }
    const Caller& caller() const { return static_cast<const Caller&>(*this); }

    template <class Out>
    Request make(Operation operation, std::string_view algorithm, RankId root, Out& output) const {
        using T = ElementOf<Out>;
        static_assert(std::is_trivially_copyable_v<T>, "elements travel as plain bytes");
        Request request;
        request.operation = operation;
        request.algorithm = caller().algorithm_of(operation, algorithm);
        request.by_price = algorithm == automatic;
        request.root = root;
        request.element_bytes = sizeof(T);
        request.output = reinterpret_cast<std::byte*>(data_of(output));
        request.declared = is_declared<std::remove_cv_t<Out>>;
        return request;
    }
    template <class In, class Out>
    Request make(Operation operation, std::string_view algorithm, RankId root, const In& input,
                 Out& output) const {
        static_assert(fit_each_other<In, Out>,
                      "input and output have elements of one type, and both are declared or neither is");
        Request request = make(operation, algorithm, root, output);
        request.input = reinterpret_cast<const std::byte*>(data_of(input));
        const bool uses_both = !has_root(operation) || caller().rank() == root;
        if (uses_both && !request.declared) expect_apart(request, elements_in(input), elements_in(output));
        return request;
    }
    template <class In, class Out, class Op>
    Request make(Operation operation, std::string_view algorithm, RankId root, const In& input, Out& output,
                 const Op& op) {
        Request request = make(operation, algorithm, root, input, output);
        request.combine = operator_of<ElementOf<In>>(caller().keep(op));
        return request;
    }
    void expect(const Request& request, bool fits) const {
        if (!fits) refuse_sizes(request, caller().ranks());
    }
};

}  // namespace heddle::spmd
