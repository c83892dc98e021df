// The translator of lesson 06 in plain JavaScript: what `models/recurrent.py` computes for one sentence with the attention of
// Bahdanau et al. 2014. Vectors and arithmetic are those of `transformer.js`.
"use strict";

Attention.Recurrent = (() => {
  const { Translator, linear, add, dot, softmax, weightedSum } = Attention;
  const joined = (...vectors) => Float32Array.from(vectors.flatMap((vector) => [...vector]));
  const tanh = (x) => x.map(Math.tanh);
  const sigmoid = (x) => 1 / (1 + Math.exp(-x));

  // A gated recurrent unit. `projected` is W x + b for its gates r and z and the new state n, one above the other.
  const project = (gru, x) => linear({ weight: gru.weight_ih_l0, bias: gru.bias_ih_l0 }, x);

  function advance(gru, projected, state) {
    const own = linear({ weight: gru.weight_hh_l0, bias: gru.bias_hh_l0 }, state);
    const H = state.length;
    return state.map((old, i) => {
      const reset = sigmoid(projected[i] + own[i]);
      const update = sigmoid(projected[H + i] + own[H + i]);
      const fresh = Math.tanh(projected[2 * H + i] + reset * own[2 * H + i]);
      return (1 - update) * fresh + update * old;
    });
  }

  return class Recurrent extends Translator {
    embed(id) {
      const D = this.config.width;
      return this.embedding.weight.subarray(id * D, (id + 1) * D).map((value) => value * Math.sqrt(D));
    }

    // Read the source from both sides: an annotation of each word, which is a value, and the key made of it.
    encode(ids) {
      const read = (gru, words) => {
        let state = new Float32Array(this.config.encoder_hidden);
        return words.map((word) => (state = advance(gru, project(gru, word), state)));
      };
      const words = ids.map((id) => this.embed(id)); // S D
      const forward = read(this.encoder.forward_gru, words);
      const backward = read(this.encoder.backward_gru, [...words].reverse()).reverse();
      const values = forward.map((state, s) => joined(state, backward[s])); // S E
      const keys = values.map((value) => linear({ weight: this.decoder.attention.weight_h }, value)); // S A
      const state = tanh(linear(this.initial, joined(forward[forward.length - 1], backward[0]))); // H
      return { values, keys, state };
    }

    // Look at the source with the state as query, then read one more target id: the logits of the next one, and the weights.
    step(id, memory) {
      const { attention, gru, context: intoGates, merge } = this.decoder;
      const query = linear({ weight: attention.weight_s }, memory.state); // A
      const weights = softmax(memory.keys.map((key) => dot(attention.v, tanh(add(query, key))))); // S
      const context = weightedSum(weights, memory.values); // E
      const word = this.embed(id);
      memory.state = advance(gru, add(project(gru, word), linear(intoGates, context)), memory.state);
      const features = tanh(linear(merge, joined(memory.state, context, word))); // D
      return { logits: linear(this.embedding, features), seen: weights };
    }
  };
})();
