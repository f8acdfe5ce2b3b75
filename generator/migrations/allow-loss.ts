import type { SourceText } from '@twofold/schema';
import { literal } from '../../templates/literal.ts';
import type { Folded } from './fold.ts';

/**
 * Writes the consent to lose data into the migrations that last change these columns, so that a
 * review sees it. Returns the migrations with a new text.
 */
export function allowLossIn(
  migrations: readonly SourceText[],
  folded: Folded,
  columns: ReadonlySet<string>,
): SourceText[] {
  return migrations.flatMap((migration) => {
    const has = folded.allowLoss.get(migration.file) ?? [];
    const more = [...columns].filter(
      (name) => folded.definedIn.get(name) === migration.file && !has.includes(name),
    );
    return more.length === 0
      ? []
      : [{ ...migration, text: withAllowLoss(migration.text, [...has, ...more].sort()) }];
  });
}

/** Inserts the line after the imports, or replaces an existing one. */
function withAllowLoss(text: string, columns: readonly string[]): string {
  const line = `export const allowLoss = ${literal(columns).text};`;
  if (/^export const allowLoss = .*;$/m.test(text))
    return text.replace(/^export const allowLoss = .*;$/m, line);
  const imports = text.match(/^(?:import [^;]*;\r?\n)+/m)?.[0] ?? '';
  return imports === ''
    ? `${line}\n\n${text}`
    : text.replace(imports, () => `${imports}\n${line}\n`);
}
