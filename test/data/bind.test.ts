import { describe, expect, it } from 'vitest';
import type { Parameter } from '../../runtime/core/data/sql/fragment.ts';
import { indexModel } from '../../runtime/core/data/model.ts';
import { bind } from '../../runtime/core/data/reader.ts';
import { projectOf } from '../graphql/harness.ts';

const model = indexModel(
  projectOf('type User { id: ID! name: String } type Query { users: [User!]! }'),
);
const text = { type: 'text' } as const;
const id = { type: 'id' } as const;
const call = (equals: unknown, where?: unknown) =>
  ({ equals, where, order: [], page: { limit: 20, offset: 0, backwards: false } }) as never;

describe('the values of a statement', () => {
  it('stand in the order of its parameters, wherever they come from', () => {
    const parameters: readonly Parameter[] = [
      { from: 'caller', as: id },
      { from: 'call', call: 1, path: ['where', 'name', 'in', 1], as: text },
      { from: 'call', call: 0, path: ['equals', 0, 'value'], as: id },
      { from: 'value', value: true, as: { type: 'boolean' } },
      { from: 'row', column: 'name', as: text },
      { from: 'keys', as: { ...id, many: true } },
    ];
    const bound = {
      calls: [call([{ column: 'id', value: '7' }]), call([], { name: { in: ['a', 'b'] } })],
      rules: { caller: 3, organizations: [], claims: null },
      keys: ['1', 2],
      row: new Map([['name', 'Ada']]),
    };
    expect(bind(parameters, model, 'sqlite', bound)).toEqual([3, 'b', 7, 1, 'Ada', '[1,2]']);
    expect(bind(parameters, model, 'postgres', bound)).toEqual([3, 'b', 7, true, 'Ada', [1, 2]]);
  });

  it('are null where nothing is given, and where a text cannot be a key', () => {
    const parameters: readonly Parameter[] = [
      { from: 'call', call: 0, path: ['where', 'not', 'there'], as: text },
      { from: 'call', call: 5, path: ['equals', 0, 'value'], as: id },
      { from: 'call', call: 0, path: ['equals', 0, 'value'], as: id },
      { from: 'caller', as: id },
      { from: 'row', column: 'name', as: text },
    ];
    expect(
      bind(parameters, model, 'sqlite', {
        calls: [call([{ column: 'id', value: "1' or 1=1 --" }])],
      }),
    ).toEqual([null, null, null, null, null]);
    expect(bind([{ from: 'keys', as: { ...id, many: true } }], model, 'sqlite', {})).toEqual([
      '[]',
    ]);
  });

  it('keep keys of 64 bits and take global ids apart', () => {
    const at = (value: unknown, as: Parameter['as']) =>
      bind([{ from: 'value', value, as }], model, 'sqlite', {})[0];
    expect(at('9007199254740993', id)).toBe(9007199254740993n);
    expect(at('99999999999999999999', id)).toBeNull();
    expect([
      at('Post:7', { ...id, global: 'Post' }),
      at('7', { ...id, global: 'Post' }),
      at('User:7', { ...id, global: 'Post' }),
    ]).toEqual([7, 7, null]);
  });
});
