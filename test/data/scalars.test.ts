import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { knownCodec } from '../../runtime/core/data/scalars/known.ts';
import { KNOWN_SCALARS, knownScalar } from '../../schema/scalars.ts';
import { root } from '../source-files.ts';
import { VALUES } from './scalar-values.ts';

const codec = (name: string) => knownCodec(name, knownScalar(name)!.column);

describe('a known scalar', () => {
  it.each(KNOWN_SCALARS.filter((name) => !['JSON', 'Void'].includes(name)))(
    '%s takes what it is and refuses what it is not',
    (name) => {
      const [good, ...bad] = VALUES[name] ?? [];
      expect(bad.length).toBeGreaterThan(0);
      expect(() => codec(name).input(good)).not.toThrow();
      for (const value of bad)
        expect(() => codec(name).input(value), `${name}: ${JSON.stringify(value)}`).toThrow();
    },
  );

  it('Void holds nothing', () => {
    for (const value of ['', 'x', 0, {}]) expect(() => codec('Void').input(value)).toThrow();
  });

  it('Time keeps the instant of a time with an offset', () => {
    const { input } = codec('Time');
    expect(
      ['10:00:00+02:00', '01:30:00.5+02:00', '23:30Z', '23:30:15-01:15', '10:00'].map(input),
    ).toEqual(['08:00:00', '23:30:00.5', '23:30:00', '00:45:15', '10:00:00']);
  });

  it('that is frequent does not load the package of the rare ones', () => {
    const program = `
      const { knownCodec } = await import('./runtime/core/data/scalars/known.ts');
      const { createRequire } = await import('node:module');
      const loaded = () => Object.keys(createRequire(import.meta.url).cache).some((file) => file.includes('graphql-scalars'));
      knownCodec('EmailAddress', 'text').input('a@x.test');
      const before = loaded();
      knownCodec('CountryName', 'text').input('Germany');
      console.log(before, loaded());`;
    const answer = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
      cwd: root,
      encoding: 'utf8',
    });
    expect(answer.trim()).toBe('false true');
  });
});
