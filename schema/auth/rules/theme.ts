import { finding, type Rule } from '../../rules/finding.ts';
import { contrast, readable } from '../contrast.ts';

/** The contrast that WCAG 2.2 (1.4.3, level AA) demands of text. */
const LEAST = 4.5;

/** THEME_CONTRAST: the accent is the color of links on white, and the background of white text. */
export const theme: Rule = function* ({ facts }) {
  const { values, at } = facts.manifest;
  const pages = values.auth?.pages;
  if (typeof pages !== 'object') return;
  const { accent } = pages.theme;
  const found = contrast(accent, '#ffffff');
  if (found >= LEAST) return;
  yield finding(
    'THEME_CONTRAST',
    `auth.pages.theme.accent ${accent} has a contrast of ${found.toFixed(2)} to white`,
    at(['auth', 'pages', 'theme', 'accent']),
    {
      why: 'text in this color, and white text on it, needs 4.5 to be readable (WCAG 2.2)',
      fix: `accent: "${readable(accent, LEAST)}"`,
    },
  );
};
