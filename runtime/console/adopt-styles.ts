import { join } from 'node:path';
import type { Plugin } from 'rolldown';

const TERMINAL = /[\\/]@xterm[\\/]xterm[\\/]lib[\\/]xterm\.mjs$/;
const ADOPTED = join(import.meta.dirname, 'web/pages/apps/adopted-style.ts');

/**
 * Replacements in the package's code: the text that is searched, the text in its place, and how
 * often it occurs.
 */
const CHANGES = [
  { from: /[\w$.]+\.createElement\("style"\)/g, to: 'adoptedStyle()', times: 3 },
  {
    from: /(\w+)\.setAttribute\("style",`\$\{\1\.getAttribute\("style"\)\|\|""\}\$\{(\w+)\};`\)/g,
    to: '$1.style.cssText+=$2',
    times: 1,
  },
] as const;

/**
 * The terminal writes `<style>` elements and `style` attributes, which the policy of the console
 * forbids. Adopted style sheets and properties that a script sets are allowed, and do the same.
 *
 * @throws Error when another version of the terminal writes them in another way
 */
export function adoptStyles(): Plugin {
  return {
    name: 'adopt-styles',
    transform(code, id) {
      if (!TERMINAL.test(id)) return null;
      const changed = CHANGES.reduce((text, { from, to, times }) => {
        const found = text.match(from)?.length ?? 0;
        if (found !== times)
          throw new Error(
            `xterm has ${found} and not ${times} places like ${from.source}: compare CHANGES with its new version`,
          );
        return text.replace(from, to);
      }, code);
      return `import { adoptedStyle } from ${JSON.stringify(ADOPTED)};\n${changed}`;
    },
  };
}
