import { describe, expect, it } from 'vitest';
import { createAssembly, partsOf } from '../../runtime/core/data/changes/announcements.ts';

describe('parts of a notification', () => {
  it('come together again, each short enough and unlike every other', () => {
    const text = `${'ü😀'.repeat(30_000)}`;
    const parts = partsOf(text);
    expect([
      parts.length > 20,
      new Set(parts).size === parts.length,
      parts.every((part) => Buffer.byteLength(part) < 8000),
    ]).toEqual([true, true, true]);
    const assembly = createAssembly();
    expect(parts.slice(0, 3).map((part) => assembly.add(part))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    // Heard from the middle on, it is left out; one that follows is heard.
    const whole = [...parts.slice(5), ...partsOf(text)]
      .map((part) => assembly.add(part))
      .filter((each) => each !== undefined);
    expect(whole).toEqual([text]);
    expect(assembly.add('{"short":true}')).toBe('{"short":true}');
  });
});
