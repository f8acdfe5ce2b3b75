import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { testTitles } from '../test-titles.ts';
import { ASVS } from './asvs.ts';

const folder = new URL('./', import.meta.url);
const titles = readdirSync(folder)
  .filter((file) => file.endsWith('.test.ts') && file !== 'asvs.test.ts')
  .flatMap((file) => testTitles(`test/auth/${file}`))
  .map(({ title }) => title);

/** The titles among which a row's test is; a row may name a file of another folder. */
function titlesFor(test: string): { readonly title: string; readonly among: readonly string[] } {
  const [, file, title] = /^([\w/-]+\.test\.ts): (.*)$/.exec(test) ?? [];
  return file === undefined
    ? { title: test, among: titles }
    : { title: title!, among: testTitles(`test/${file}`).map((each) => each.title) };
}

/** How many requirements each section of ASVS 5.0.0 has. */
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
  '10.3': 5,
  '10.4': 16,
  '10.5': 5,
  '10.6': 2,
  '10.7': 3,
  '16.1': 1,
  '16.2': 5,
  '16.3': 4,
  '16.4': 3,
  '16.5': 4,
};

describe('OWASP ASVS 5.0, V6, V7, V9, V10 and V16', () => {
  it('every requirement has a test, or names a feature that is absent', () => {
    const wanted = Object.entries(SECTIONS).flatMap(([section, count]) =>
      Array.from({ length: count }, (_, index) => `${section}.${index + 1}`),
    );
    expect(Object.keys(ASVS).sort()).toEqual(wanted.sort());
  });

  for (const [id, row] of Object.entries(ASVS)) {
    if ('test' in row)
      it(`${id} is shown by a test that is there`, () => {
        const { title, among } = titlesFor(row.test);
        expect(
          among.filter((each) => each.includes(title)),
          row.test,
        ).not.toEqual([]);
      });
    else it(`${id} names what is absent`, () => expect(row.absent).not.toBe(''));
  }

  it('the page of level 2 names what differs', () => {
    const page = readFileSync(new URL('../../runtime/auth/docs/asvs.md', import.meta.url), 'utf8');
    for (const [id, row] of Object.entries(ASVS))
      if ('differs' in row) expect(page.replaceAll('\n', ' ')).toContain(`${row.differs} (${id})`);
  });

  it('the page of level 2 names the manifest that the test runs with', () => {
    const page = readFileSync(new URL('../../runtime/auth/docs/asvs.md', import.meta.url), 'utf8');
    for (const line of ['profile: strict', 'second_factor: { mode: required }', 'breached: {'])
      expect(page).toContain(line);
    expect(titles).toContain(
      'no token before a second factor is enrolled, and then none without it (6.3.3)',
    );
  });
});
