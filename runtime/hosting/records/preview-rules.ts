import { toEnv } from './names.ts';

/** How previews of an app are made. `PREVIEW_RULES` has the defaults. */
export interface PreviewRules {
  /** Whether pull requests are deployed. Previews by hand need nothing. */
  readonly enabled: boolean;
  /** How long a preview lasts after its last change, as `72h`; null is the manifest's default. */
  readonly expire: string | null;
  /** Added to the environment of the app. */
  readonly env: Readonly<Record<string, string>>;
  /** The secrets of the app that its previews get too. */
  readonly secrets: readonly string[];
  /** Whether pull requests from other repositories are deployed. */
  readonly forks: boolean;
}

/** `PreviewRules` as a user sends them. */
export type PreviewFields = Omit<Partial<PreviewRules>, 'env'> & {
  readonly env?: Readonly<Record<string, string | number | boolean>>;
};

/** What makes an app a preview of another one. */
export interface PreviewOf {
  /** The name and the id of the app that it shows a change of. */
  readonly of: string;
  readonly app_id: string;
  /** The number of the pull request, or the key of a call. */
  readonly key: string;
  /** A branch, tag or commit; null for an image. */
  readonly ref: string | null;
  readonly expires_at: string;
  /** When the pull request was last changed, in milliseconds since 1970. */
  readonly seen?: number;
}

export const PREVIEW_RULES: PreviewRules = {
  enabled: false,
  expire: null,
  env: {},
  secrets: [],
  forks: false,
};

/** Turns the values of the environment into text. @throws AppError 400 */
export function toPreviewRules({ env, ...rest }: PreviewFields): Partial<PreviewRules> {
  if (env === undefined) return rest;
  return { ...rest, env: toEnv(env) };
}
