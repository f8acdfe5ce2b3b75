import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { testTitles } from '../test-titles.ts';
import { ASVS } from './asvs.ts';

const folder = new URL('./', import.meta.url);
const titles = readdirSync(folder)
  .filter((file) => file.endsWith('.test.ts') && file !== 'asvs.test.ts')
  .flatMap((file) => testTitles(`test/auth/${file}`))
  .map(({ title }) => title);
const readme = readFileSync(new URL('../../runtime/auth/README.md', import.meta.url), 'utf8');

/** How many requirements each section has. */
const SECTIONS: Readonly<Record<string, number>> = {
  '6.1': 3,
  '6.2': 12,
  '6.3': 8,
  '6.4': 6,
  '6.5': 8,
  '6.6': 4,
  '6.7': 2,
  '6.8': 4,
  '7.1': 3,
  '7.2': 4,
  '7.3': 2,
  '7.4': 5,
  '7.5': 3,
  '7.6': 2,
  '9.1': 3,
  '9.2': 4,
  '10.1': 2,
  '10.2': 3,
  '10.5': 5,
  '16.1': 1,
  '16.2': 5,
  '16.3': 4,
  '16.4': 3,
  '16.5': 4,
};

describe('§1.3 OWASP ASVS 5.0', () => {
  it('every requirement has a test, a place in the README, or a reason', () => {
    const wanted = Object.entries(SECTIONS).flatMap(([section, count]) =>
      Array.from({ length: count }, (_, index) => `${section}.${index + 1}`),
    );
    expect(Object.keys(ASVS).sort()).toEqual([...wanted, '10.4.5'].sort());
  });

  for (const [id, coverage] of Object.entries(ASVS)) {
    if ('test' in coverage)
      it(`${id} is shown by a test that is there`, () =>
        expect(
          titles.filter((title) => title.includes(coverage.test)),
          coverage.test,
        ).not.toEqual([]));
    if ('na' in coverage)
      it(`${id} has a reason`, () =>
        expect(coverage.na.split(' ').length, coverage.na).toBeGreaterThan(1));
    if ('open' in coverage)
      it(`${id} is open, and the row says what brings it`, () =>
        expect(coverage.open.split(' ').length, coverage.open).toBeGreaterThan(5));
    if ('docs' in coverage)
      it(`${id} is documented`, () => expect(readme).toContain(coverage.docs));
  }
});
