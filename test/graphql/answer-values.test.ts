import {
  GraphQLBoolean,
  GraphQLError,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  GraphQLString,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { EmptyAnswer, Waiting } from '../../runtime/core/graphql/execute/execution.ts';
import { assertJson, leafOf, leafValue } from '../../runtime/core/graphql/execute/field.ts';

const SCALARS = [GraphQLString, GraphQLID, GraphQLInt, GraphQLFloat, GraphQLBoolean];
const VALUES: readonly unknown[] = [
  '',
  'a',
  '"',
  '\\',
  '\u0000',
  '\n',
  '\u001f',
  '\u007f',
  '\u2028',
  'é😀',
  '\ud800',
  '\udc00x',
  'null',
  '1',
  0,
  -0,
  1,
  -1,
  1.5,
  1e21,
  1e-7,
  2 ** 31 - 1,
  2 ** 31,
  -(2 ** 31),
  2 ** 53,
  Number.NaN,
  Infinity,
  true,
  false,
  10n,
  null,
  undefined,
  {},
  [],
  new Date(0),
  { valueOf: () => 5 },
];

describe('values of scalars', () => {
  it('are what the scalar and JSON make of them, or left to the scalar', () => {
    for (const scalar of SCALARS) {
      const leaf = leafOf(scalar);
      if (!leaf) throw new TypeError(`${scalar.name} is not known`);
      for (const value of VALUES) {
        const taken = leafValue(leaf, value);
        if (taken === undefined) continue;
        expect([scalar.name, value, JSON.stringify(taken)]).toEqual([
          scalar.name,
          value,
          JSON.stringify(scalar.coerceOutputValue(value)),
        ]);
      }
    }
    expect(leafValue('text', 'plain')).toBe('plain');
    expect(leafValue('integer', 2 ** 31)).toBeUndefined();
    expect(leafValue('number', Number.NaN)).toBeUndefined();
  });

  it('fail where they stand when JSON has no words for them', () => {
    const round: Record<string, unknown> = {};
    round['self'] = round;
    for (const value of [10n, { deep: [10n] }, round])
      expect(() => assertJson(value)).toThrow(TypeError);
    for (const value of ['a', 1, true, null, { a: [1] }, new Date(0)])
      expect(assertJson(value)).toBe(value);
  });
});

describe('an object of an answer', () => {
  it('takes any name as a key, in the order in which they come', () => {
    const answer = new EmptyAnswer();
    for (const key of ['constructor', '__proto__', 'toString', 'a']) answer[key] = key;
    expect(JSON.stringify(answer)).toBe(
      '{"constructor":"constructor","__proto__":"__proto__","toString":"toString","a":"a"}',
    );
    expect(Object.getPrototypeOf(Object.prototype)).toBeNull();
  });
});

describe('what an answer waits for', () => {
  it('keeps its place', async () => {
    const answer = new EmptyAnswer();
    const slow = Promise.withResolvers<number>();
    const waiting = new Waiting().add('first', slow.promise);
    answer['first'] = null;
    answer['second'] = 2;
    answer['third'] = null;
    waiting.add('third', Promise.resolve(3)).add('fourth', Promise.resolve(null));
    const whole = waiting.finish(answer);
    slow.resolve(1);
    expect(JSON.stringify(await whole)).toBe('{"first":1,"second":2,"third":3,"fourth":null}');
  });

  it('keeps its place in a list', async () => {
    const waiting = new Waiting().add(0, Promise.resolve('a'));
    const list = [null, 'b'];
    expect(await waiting.finish(list)).toEqual(['a', 'b']);
  });

  it('fails when one of it fails, and leaves no rejection to nobody', async () => {
    const failing = () => Promise.reject(new GraphQLError('no'));
    const answer = new EmptyAnswer();
    await expect(
      new Waiting().add('a', failing()).add('b', Promise.resolve(2)).finish(answer),
    ).rejects.toThrow('no');
    const unhandled: unknown[] = [];
    const note = (error: unknown) => void unhandled.push(error);
    process.on('unhandledRejection', note);
    new Waiting().add('a', failing()).abandon();
    await new Promise((resolve) => setTimeout(resolve, 20));
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });
});
