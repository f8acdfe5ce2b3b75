import { GraphQLBoolean, GraphQLError, GraphQLFloat, GraphQLID, GraphQLInt, GraphQLString } from 'graphql';
import { describe, expect, it } from 'vitest';
import { leafOf, leafText, quote, Writer } from '../../runtime/graphql/execute/text.ts';

const SCALARS = [GraphQLString, GraphQLID, GraphQLInt, GraphQLFloat, GraphQLBoolean];
const VALUES: readonly unknown[] = ['', 'a', '"', '\\', '\u0000', '\n', '\u001f', '\u007f', '\u2028', 'é😀', '\ud800', '\udc00x', 'null', '1', 0, -0, 1, -1, 1.5, 1e21, 1e-7, 2 ** 31 - 1, 2 ** 31, -(2 ** 31), 2 ** 53, Number.NaN, Infinity, true, false, 10n, null, undefined, {}, [], new Date(0), { valueOf: () => 5 }];

describe('texts of values', () => {
  it('are what the scalar and JSON make of them, or left to the scalar', () => {
    for (const scalar of SCALARS) {
      const leaf = leafOf(scalar);
      if (!leaf) throw new TypeError(`${scalar.name} is not known`);
      for (const value of VALUES) {
        const text = leafText(leaf, value);
        if (text === undefined) continue;
        expect([scalar.name, value, text]).toEqual([scalar.name, value, JSON.stringify(scalar.coerceOutputValue(value))]);
      }
    }
    expect(leafText('text', 'plain')).toBe('"plain"');
    expect(leafText('integer', 2 ** 31)).toBeUndefined();
    expect(leafText('number', Number.NaN)).toBeUndefined();
  });

  it('are escaped as JSON has it', () => {
    for (let code = 0; code <= 0xffff; code += 1) {
      const text = `a${String.fromCharCode(code)}b`;
      if (quote(text) !== JSON.stringify(text)) expect([code, quote(text)]).toEqual([code, JSON.stringify(text)]);
    }
  });
});

describe('a writer', () => {
  it('writes at once what is there, and null for null', () => {
    const writer = new Writer('{');
    writer.add('"a":', '1');
    writer.add(',"b":', null);
    expect(writer.end('}')).toBe('{"a":1,"b":null}');
  });

  it('keeps the order while it waits', async () => {
    const writer = new Writer('[');
    const slow = Promise.withResolvers<string | null>();
    writer.add('', slow.promise);
    writer.add(',', '2');
    writer.add(',', Promise.resolve('3'));
    writer.add(',', Promise.resolve(null));
    const text = writer.end(']');
    slow.resolve('1');
    expect(await text).toBe('[1,2,3,null]');
  });

  it('fails when one of them fails, and leaves no rejection to nobody', async () => {
    const failing = () => Promise.reject(new GraphQLError('no'));
    const writer = new Writer('[');
    writer.add('', failing());
    writer.add(',', Promise.resolve('2'));
    await expect(writer.end(']')).rejects.toThrow('no');
    const unhandled: unknown[] = [];
    const note = (error: unknown) => void unhandled.push(error);
    process.on('unhandledRejection', note);
    const given = new Writer('[');
    given.add('', failing());
    given.abandon();
    await new Promise((resolve) => setTimeout(resolve, 20));
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });
});
