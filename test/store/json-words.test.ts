import { afterAll, expect, it } from 'vitest';
import { openSqlite } from '../../runtime/core/store/sqlite-connection.ts';
import { JSON_WORD } from '../../runtime/core/store/json-words.ts';

const database = openSqlite(':memory:');
afterAll(() => database.close());

const found = (document: unknown, steps: readonly string[], value: unknown) =>
  database.value(`select ${JSON_WORD}('eq', ?, ?, ?, 0)`, [
    JSON.stringify(document),
    JSON.stringify(steps),
    JSON.stringify(value),
  ]);

it('a statement can be ended within a row, between two words about a large document', () => {
  const large = { text: 'x'.repeat(2000) };
  let steps = 0;
  database.onStep(() => {
    steps += 1;
    if (steps === 3) throw new Error('time is up');
  });
  expect(found(large, ['text'], large.text)).toBe(1);
  expect(found({ text: 'y' }, ['text'], 'x')).toBe(0);
  expect(found(large, ['text'], 'x')).toBe(0);
  expect(() => found(large, ['other'], 'x')).toThrow('time is up');
  database.onStep(undefined);
});

it('a document is looked at anew when it is another one', () => {
  for (const value of [1, 2, 1, null, 3]) {
    expect(found({ a: value }, ['a'], value)).toBe(value === null ? null : 1);
    expect(found({ a: value }, ['a'], 9)).toBe(value === null ? null : 0);
  }
});
