import { finding, type Rule } from '../../rules/finding.ts';

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
  yield finding('THEME_CONTRAST', at(['auth', 'pages', 'theme', 'accent']), {
    summary: `auth.pages.theme.accent ${accent} has a contrast of ${found.toFixed(2)} to white`,
    why: 'text in this color, and white text on it, needs 4.5 to be readable (WCAG 2.2)',
    fix: `accent: "${readable(accent, LEAST)}"`,
  });
};

type Rgb = readonly [number, number, number];

/**
 * The contrast of two colors, from 1 to 21 (WCAG 2.2, relative luminance).
 *
 * @param color `#rrggbb`
 */
export function contrast(color: string, other: string): number {
  const [light, dark] = [luminance(color), luminance(other)].sort((a, b) => b - a) as [
    number,
    number,
  ];
  return (light + 0.05) / (dark + 0.05);
}

/** A darker shade of a color that has at least this contrast to white. */
export function readable(color: string, least: number): string {
  return shade(color, '#000000', '#ffffff', least);
}

/**
 * Mixes a color with another one, a twentieth at a time, until it has a contrast to the background.
 *
 * @example shade('#2457d6', '#ffffff', '#14171c', 4.5) // a lighter blue for dark pages
 */
export function shade(color: string, toward: string, background: string, least: number): string {
  for (let part = 0; part < 1; part += 0.05) {
    const mixed = mix(color, toward, part);
    if (contrast(mixed, background) >= least) return mixed;
  }
  return toward;
}

function mix(color: string, toward: string, part: number): string {
  const [from, to] = [channels(color), channels(toward)];
  return `#${from
    .map((value, index) => Math.round(value + (to[index]! - value) * part))
    .map((value) => value.toString(16).padStart(2, '0'))
    .join('')}`;
}

function luminance(color: string): number {
  const [red, green, blue] = channels(color).map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as unknown as Rgb;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

const channels = (color: string): Rgb =>
  [1, 3, 5].map((start) => Number.parseInt(color.slice(start, start + 2), 16)) as unknown as Rgb;
