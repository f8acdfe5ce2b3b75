import { describe, expect, it } from 'vitest';
import { readItems } from '../../runtime/models/gateway/responses/read-responses.ts';
import { readVectors } from '../../runtime/models/gateway/openai-dialect.ts';
import { patternGrammar } from '../../runtime/models/llamacpp/grammar/pattern.ts';
import { Rules } from '../../runtime/models/llamacpp/grammar/rules.ts';
import { SchemaGrammar } from '../../runtime/models/llamacpp/grammar/schema-grammar.ts';

const compile = (schema: object) => new SchemaGrammar(new Rules(), schema, 'schema').compile();
/** Definitions of which each leads to the next one twice, and the last one to `last`. */
const doubled = (count: number, twice: (next: object) => object, last: object) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      `d${index}`,
      index + 1 === count ? last : twice({ $ref: `#/$defs/d${index + 1}` }),
    ]),
  );

describe('a hostile schema', () => {
  it('whose references branch again and again is read once, or refused', () => {
    const both = (next: object) => ({
      ...{ type: 'object', additionalProperties: false },
      ...{ properties: { a: next, b: next }, required: ['a', 'b'] },
    });
    const fine = doubled(40, both, { type: 'boolean' });
    expect(compile({ $ref: '#/$defs/d0', $defs: fine })).toMatch(/^r\d+$/);
    const endless = doubled(40, (next) => ({ anyOf: [next, { ...next }] }), both({ $ref: '#' }));
    expect(() => compile({ $ref: '#/$defs/d0', $defs: endless })).toThrow(/too large/);
    expect(() => compile({ $ref: '#/$defs/d0', $defs: { d0: both({ $ref: '#' }) } })).toThrow(
      /contains itself without end/,
    );
  });

  it('with very many repetitions, or a reference that is no text, costs little', () => {
    expect(patternGrammar('a{1}'.repeat(50_000), 'p', new Rules()).length).toBeGreaterThan(50_000);
    expect(() => patternGrammar('a{1001}', 'p', new Rules())).toThrow('a{1001}'.slice(1));
    expect(() => compile({ $ref: '#/%' })).toThrow(/is not in the schema/);
  });
});

describe('a hostile request', () => {
  it('with very many names, types or calls costs little', () => {
    const names = Array.from({ length: 100_000 }, (_, index) => `n${index}`);
    const properties = Object.fromEntries(names.map((name) => [name, true]));
    expect(() => compile({ type: 'object', properties, required: names })).toThrow(/too large/);
    const types = { type: names.map(() => 'null'), enum: names.map((_, index) => index) };
    expect(() => compile(types)).toThrow(/allows no value/);
    const [message] = readItems(
      names.map((call_id) => ({ type: 'function_call', call_id })),
      null,
    );
    expect(message?.['tool_calls']).toHaveLength(names.length);
  });

  it.each([
    { minimum: 1e-12, exclusiveMinimum: 9e14 },
    { minimum: 1e-12, exclusiveMaximum: 1e15 },
    { exclusiveMinimum: 9e14, exclusiveMaximum: 9e14 + 1 },
  ])('with bounds between which numbers cannot be told apart costs little: %j', (bounds) => {
    expect(compile({ type: 'number', ...bounds })).toMatch(/^r\d+$/);
  });

  it.each([{ minimum: 1e300 }, { exclusiveMinimum: 1e15 }, { maximum: -1e15 }])(
    'with a number that no grammar can write is refused: %j',
    (bounds) => {
      for (const type of ['number', 'integer'])
        expect(() => compile({ type, ...bounds })).toThrow(/bounds that allow no number/);
    },
  );
});

describe('a request to rank texts', () => {
  it.each([0, 'x', 1.5])('with top_n %j is refused before a model works for it', (top_n) => {
    expect(() => readVectors('rerank', { query: 'q', documents: ['a'], top_n })).toThrow(/top_n/);
  });
});
