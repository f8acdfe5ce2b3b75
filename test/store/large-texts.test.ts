import { afterAll, expect, it } from 'vitest';
import { containsText } from '../../runtime/core/store/sqlite/contains-text.ts';
import { openSqlite } from '../../runtime/core/store/sqlite/sqlite-connection.ts';
import { JSON_WORD } from '../../runtime/core/store/sqlite/json-words.ts';

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

it('a part is found in time that grows with the lengths, whatever the letters are', () => {
  const [text, part] = ['a'.repeat(400_000), 'a'.repeat(40_000)];
  const since = performance.now();
  expect(containsText(text, `${part}b`)).toBe(false);
  expect(containsText(text, `${part}b${part}`)).toBe(false);
  expect(containsText(`${text}b${text}`, `${part}b${part}`)).toBe(true);
  expect(performance.now() - since).toBeLessThan(2000);
});

it('a part of a large text is found as in a small one', () => {
  let seed = 7;
  const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  const letters = (count: number) =>
    Array.from({ length: count }, () => (random() < 0.9 ? 'a' : 'é')).join('');
  for (let run = 0; run < 40; run += 1) {
    const text = letters(3000);
    const from = Math.floor(random() * 2000);
    for (const part of [text.slice(from, from + 900), letters(20) + text.slice(from, from + 900)])
      expect(containsText(text, part)).toBe(text.includes(part));
  }
});
