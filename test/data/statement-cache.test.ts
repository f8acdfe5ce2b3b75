import { describe, expect, it } from 'vitest';
import { createStatementCache } from '../../runtime/core/data/statement-key.ts';

const statement = (text: string) => ({ text, parameters: [], long: false });

describe('statements of plans', () => {
  it('are made once for a node and a shape', () => {
    const statements = createStatementCache();
    const node = {};
    let made = 0;
    const make = () => statement(`select ${(made += 1)}`);
    expect(
      [
        statements.get(node, 'a', make),
        statements.get(node, 'a', make),
        statements.get(node, 'b', make),
        statements.get({}, 'a', make),
      ].map(({ text }) => text),
    ).toEqual(['select 1', 'select 1', 'select 2', 'select 3']);
  });

  it('are kept for so many shapes of one node', () => {
    const statements = createStatementCache({ keys: 2, characters: 1000 });
    const node = {};
    for (const shape of ['a', 'b', 'c']) statements.get(node, shape, () => statement(shape));
    const known = ['b', 'c', 'a'].map(
      (shape) => statements.get(node, shape, () => statement('again')).text,
    );
    expect(known).toEqual(['b', 'c', 'again']);
  });

  it('are all forgotten when their texts come to too much', () => {
    const statements = createStatementCache({ keys: 32, characters: 100 });
    const nodes = Array.from({ length: 5 }, () => ({}));
    for (const node of nodes) statements.get(node, '', () => statement('x'.repeat(30)));
    expect(statements.held).toBe(60);
    expect(
      nodes.map((node) => statements.get(node, '', () => statement('new')).text.slice(0, 3)),
    ).toEqual(['new', 'new', 'new', 'xxx', 'xxx']);
  });
});
