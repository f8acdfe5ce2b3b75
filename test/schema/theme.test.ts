import { expect, it } from 'vitest';
import { contrast, readable, shade } from '../../schema/auth/rules/theme.ts';
import { read } from './reading.ts';

const loadProject = (accent: string) =>
  read(
    'type User { id: ID! email: String! } type Query { users: [User!]! }',
    `name: shop\nauth: { pages: { theme: { accent: "${accent}" } } }`,
  ).diagnostics;

it('an accent below a contrast of 4.5 is THEME_CONTRAST, and its fix is readable', () => {
  const [found] = loadProject('#ffcc00').filter(({ code }) => code === 'THEME_CONTRAST');
  expect(found?.summary).toContain('#ffcc00');
  const shadeOf = /#[0-9a-f]{6}/.exec(found!.fix!)![0];
  expect(contrast(shadeOf, '#ffffff')).toBeGreaterThanOrEqual(4.5);
  expect(loadProject('#2457d6').filter(({ code }) => code === 'THEME_CONTRAST')).toEqual([]);
});

it('contrast is that of WCAG: 21 for black and white, and every shade reaches what is asked', () => {
  expect(contrast('#000000', '#ffffff')).toBe(21);
  expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2);
  for (const color of ['#000000', '#ffffff', '#ff0000', '#2457d6', '#ffcc00']) {
    expect(contrast(readable(color, 4.5), '#ffffff')).toBeGreaterThanOrEqual(4.5);
    expect(contrast(shade(color, '#ffffff', '#1b1f27', 4.5), '#1b1f27')).toBeGreaterThanOrEqual(
      4.5,
    );
  }
});
