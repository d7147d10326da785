// Whether two functions can be called alike: as many parameters, of the same sizes and kinds.
#ifndef HAUL_TESTS_SAME_DECLARATION_H
#define HAUL_TESTS_SAME_DECLARATION_H

#include <type_traits>

// An address of a device is a number to CUDA and a pointer to HIP: both are passed alike.
template <class A, class B> struct same_value {
    static constexpr bool value =
        sizeof(A) == sizeof(B) && std::is_class<A>::value == std::is_class<B>::value &&
        std::is_floating_point<A>::value == std::is_floating_point<B>::value;
};

template <class A, class B> struct same_declaration : std::false_type {
};
template <class R, class... A, class S, class... B>
struct same_declaration<R (*)(A...), S (*)(B...)> {
    template <class X, class Y, bool = sizeof...(A) == sizeof...(B)> struct each : std::false_type {
    };
    template <class... X, class... Y> struct each<void(X...), void(Y...), true> {
        static constexpr bool value = (same_value<X, Y>::value && ... && true);
    };
    static constexpr bool value = sizeof(R) == sizeof(S) && each<void(A...), void(B...)>::value;
};

#endif
