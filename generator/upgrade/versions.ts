/** The version that a project has, and the one that it gets. */
export interface Range {
  readonly from: string;
  readonly to: string;
}

/** The generated file that names the version. */
export const APP = 'src/generated/app.ts';

/**
 * The version that wrote a project: of its generated code, else of its packages; null when neither
 * says.
 *
 * @param app the text of `src/generated/app.ts`.
 * @param manifest the text of `package.json`.
 */
export function versionOfProject(app: string | null, manifest: string | null): string | null {
  const marked = /^ {2}generatedBy: '([^']+)',$/m.exec(app ?? '')?.[1];
  if (marked !== undefined) return marked;
  const spec =
    /"@twofold\/(?:runtime|generator)": "(?:file:vendor\/twofold-\w+-|[~^]?)(\d[^"]*?)(?:\.tgz)?"/;
  return spec.exec(manifest ?? '')?.[1] ?? null;
}

/** Whether a word is a version, and not a folder: `0.2.0`, `latest`. */
export const isVersion = (word: string): boolean =>
  /^(?:v?\d+\.\d+\.\d+(?:-[\w.-]+)?|latest|next)$/.test(word);
