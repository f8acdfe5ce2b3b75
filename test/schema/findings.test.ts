import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { applied, identities } from './applied-fix.ts';
import { CASES } from './findings/index.ts';
import { QUERY, read, short } from './reading.ts';

/** Whether the finding is about more than the syntax. */
function parses(sdl: string): boolean {
  return read(sdl).diagnostics.every(({ code }) => code !== 'SDL_SYNTAX');
}

describe('findings', () => {
  it.each(CASES)(
    '$code at $at: $sdl $manifest',
    ({ code, sdl, manifest, at, fix, severity, also }) => {
      const { project, diagnostics } = read(sdl, manifest ?? null);
      const mark = (finding: (typeof diagnostics)[number]) =>
        finding.at.file === 'manifest.yaml' ? `m${short(finding)}` : short(finding);
      const relevant = diagnostics.filter((finding) => finding.severity === 'error' || severity);
      expect(relevant.map(mark)).toEqual([`${at} ${code}`, ...(also ?? [])]);
      const [finding] = relevant;
      expect(finding?.severity).toBe(severity ?? 'error');
      expect(project === null).toBe(severity === undefined);
      expect(finding?.summary).toMatch(/^\S.*[^.]$/);
      expect(finding?.at.length).toBeGreaterThan(0);
      expect(finding?.fix).toEqual(fix ?? expect.any(String));
      for (const way of finding?.fixes ?? []) {
        const after = applied(sdl, way);
        const left = read(after, manifest ?? null).diagnostics;
        if (parses(sdl))
          expect(identities(after, left)).not.toContain(identities(sdl, [finding!])[0]);
      }
    },
  );

  it('are all listed in the README, and each has a case', () => {
    const readme = readFileSync(new URL('../../schema/README.md', import.meta.url), 'utf8');
    const listed = new Set([...readme.matchAll(/`([A-Z]+(?:_[A-Z]+)+)`/g)].map(([, code]) => code));
    expect([...new Set(CASES.map(({ code }) => code))].sort()).toEqual([...listed].sort());
  });

  it('come all in one run, of both files, in the order of the text', () => {
    const { diagnostics } = read(
      'type Query { a: Nope @deprected }\ntype A { id: ID! b: Int @uniqe }',
      'name: x\nsever: 1\nserver: { port: x }',
    );
    expect(diagnostics.map(short)).toEqual([
      '1:17 TYPE_UNKNOWN',
      '1:23 DIRECTIVE_UNKNOWN',
      '2:26 DIRECTIVE_UNKNOWN',
      '2:1 MANIFEST_KEY_UNKNOWN',
      '3:17 MANIFEST_SHAPE',
    ]);
  });

  it('tell of every mistake in the syntax that can be told apart', () => {
    const { diagnostics } = read(
      'type Query { a Int }\n\ntype B { b: Int }\n\ntype C {}\n',
      'name: [',
    );
    expect(diagnostics.map(short)).toEqual([
      '1:16 SDL_SYNTAX',
      '5:9 SDL_SYNTAX',
      '1:8 MANIFEST_SYNTAX',
    ]);
  });

  it('name the scalar that has no mapping, as an error once the mappings are known', () => {
    const sdl = `${QUERY}scalar Money scalar Weight type A { id: ID! price: Money weight: Weight }`;
    const { project, diagnostics } = read(sdl, null, { Weight: 'integer' });
    expect(diagnostics.map((finding) => [short(finding), finding.severity])).toEqual([
      ['2:8 SCALAR_UNMAPPED', 'error'],
    ]);
    expect(project).toBeNull();
    expect(
      read(sdl, null, { Weight: 'integer', Money: 'text' }).project?.entities[0]?.columns[2],
    ).toMatchObject({ type: 'integer', scalar: 'Weight' });
  });
});
