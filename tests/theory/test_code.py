"""The code of linear models: lengths by hand, prefix freedom, Kraft, and the way back."""

import itertools
import math

import numpy as np
import pytest

import tikhon as tk
from tikhon.theory.code import code_length, decode, encode, quantised


def test_a_word_is_the_one_written_by_hand():
    # precision 2: gamma(2) = 010; no intercept: 0; one nonzero: gamma(2) = 010; column 2 of 4: 10
    # -0.75 = -(0.11)_2 2^0: sign 1, step 0 -> gamma(1) = 1, digits after the leading one: 1
    code = encode(np.array([0.0, 0.0, -0.75, 0.0]), precision=2)
    assert code.bits == "010" + "0" + "010" + "10" + "1" + "1" + "1"
    # an intercept of 3 = (0.11)_2 2^2: 1, sign 0, step 2 -> gamma(5) = 00101, digit 1; k = 0: 1
    assert encode(np.zeros(4), 3.0, precision=2).bits == "010" + "1" + "0" + "00101" + "1" + "1"


@pytest.mark.parametrize("d", [1, 2, 7, 60])
def test_what_is_encoded_is_decoded_bit_for_bit(rng, d):
    for _ in range(60):
        w = rng.standard_normal(d) * 10.0 ** rng.integers(-30, 30, d)
        w[rng.random(d) < rng.random()] = 0.0
        b = float(rng.choice([0.0, -1.0, 1e6])) * rng.random()
        precision = int(rng.integers(1, 54))
        code = encode(w, b, precision=precision)
        back = decode(code.bits, d)
        np.testing.assert_array_equal(back.coef, code.coef)
        assert (back.intercept, back.precision) == (code.intercept, precision)
        assert len(code) == code_length(w, b, precision)
        X = rng.standard_normal((5, d))
        np.testing.assert_array_equal(back.predict(X), code.predict(X))
        if precision == 53:
            np.testing.assert_array_equal(back.coef, w)


def test_rounding_keeps_the_leading_digits(rng):
    values = rng.standard_normal(500) * 10.0 ** rng.integers(-8, 8, 500)
    for precision in (1, 4, 20):
        off = np.abs(quantised(values, precision) / values - 1)
        assert off.max() <= 2.0**-precision
        digits = np.frexp(quantised(values, precision))[0] * 2.0**precision
        np.testing.assert_array_equal(digits, np.round(digits))


def test_every_set_of_columns_has_its_own_word():
    words = set()
    for k in range(7):
        for chosen in itertools.combinations(range(6), k):
            w = np.zeros(6)
            w[list(chosen)] = 0.5
            code = encode(w, precision=1)
            np.testing.assert_array_equal(np.flatnonzero(decode(code.bits, 6).coef), chosen)
            words.add(code.bits)
    assert len(words) == 2**6


def all_words(d, longest):
    """Every code word up to a length, by trying every string of bits."""
    found = []
    for length in range(1, longest + 1):
        for bits in itertools.product("01", repeat=length):
            word = "".join(bits)
            try:
                decode(word, d)
            except ValueError:
                continue
            found.append(word)
    return found


def test_words_satisfy_krafts_inequality_and_none_begins_another():
    words = all_words(2, 13)
    assert len(words) > 100
    assert sum(2.0 ** -len(word) for word in words) <= 1
    known = set(words)
    for word in words:
        assert not any(word[:cut] in known for cut in range(1, len(word)))
    for word in words:
        code = decode(word, 2)
        assert encode(code.coef, code.intercept, precision=code.precision).bits == word


def test_a_code_without_a_prefix_rule_would_be_caught():
    """Exponents in plain binary, without their length, break Kraft: the check above can fail."""
    lengths = [max(1, n.bit_length()) for n in range(1, 64)]
    assert sum(2.0**-length for length in lengths) > 1


def test_long_tables_are_encoded_quickly(rng):
    w = np.zeros(50_000)
    w[rng.choice(50_000, 40, replace=False)] = rng.standard_normal(40)
    code = encode(w, precision=6)
    np.testing.assert_array_equal(decode(code.bits, 50_000).coef, code.coef)
    assert len(code) < math.log2(math.comb(50_000, 40)) + 40 * 20


def test_models_and_solutions_are_encoded(rng):
    data = tk.datasets.linear(60, 4)
    model = tk.Lasso(lam=0.1).fit(data.X, data.y)
    code = tk.theory.encode(model, precision=20)
    np.testing.assert_allclose(code.predict(data.X), model.predict(data.X), rtol=1e-4, atol=1e-4)
    assert tk.theory.encode(model.path_[0], precision=20).bits == code.bits


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: encode(np.ones(2), precision=0), "`precision` must be between 1 and 53"),
        (lambda: encode(np.ones(2), precision=54), "`precision`"),
        (lambda: encode(np.array([np.nan])), "finite"),
        (lambda: encode(np.ones((2, 2))), "one output"),
        (lambda: decode("0", 2), "ends in the middle"),
        (lambda: decode(encode(np.ones(2)).bits + "0", 2), "1 more after"),
        (lambda: decode("1" + "0" + "011", 1), "has 2 nonzero ones"),
    ],
)
def test_what_is_no_model_or_no_word_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
