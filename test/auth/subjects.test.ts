import { describe, expect, it } from 'vitest';
import { toIdentity } from '../../runtime/auth/oauth/identity.ts';
import { parseExact } from '../../runtime/auth/oauth/provider-http.ts';
import type { Provider } from '../../runtime/auth/oauth/providers.ts';

const paths = { subject: 'id', email: 'email', name: 'name', avatar: 'avatar' };
const subjectOf = (json: string) =>
  toIdentity({ name: 'p', paths } as Provider, parseExact(`{ "id": ${json} }`) as object as never)
    .subject;

describe('the subject of a provider', () => {
  it.each([
    ['9007199254740992', '9007199254740992'],
    ['9007199254740993', '9007199254740993'],
    ['18446744073709551615', '18446744073709551615'],
    ['4711', '4711'],
    ['"a \\" 1e3"', 'a " 1e3'],
    [`"${'x'.repeat(255)}"`, 'x'.repeat(255)],
  ])('%s is exactly itself', (json, subject) => expect(subjectOf(json)).toBe(subject));

  it.each([
    '0',
    '-5',
    '1.5',
    '1.0',
    '1e3',
    '1e21',
    'null',
    'true',
    '{}',
    '""',
    '" a"',
    '"a "',
    '"a\\u0000b"',
    '"a\\nb"',
    '"\\ud800"',
    `"${'x'.repeat(256)}"`,
  ])('%s is refused, because it cannot be compared exactly', (json) =>
    expect(() => subjectOf(json)).toThrow('OAuth identity could not be verified'),
  );
});
