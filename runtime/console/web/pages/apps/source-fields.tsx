import { ApiError, call } from '../../call.ts';
import { t } from '../../messages.ts';
import { textIn, Field } from '../../parts/field.tsx';
import type { Source, Deployment } from './types.ts';

/** The fields of a git source, with the API's names. */
export function GitFields({ source }: { source?: Source | null }) {
  const git = source?.kind === 'git' ? source : null;
  return (
    <>
      <Field
        label={t('URL')}
        name="url"
        required
        spellcheck={false}
        defaultValue={git?.url ?? ''}
        placeholder="https://git.example.com/team/shop.git"
      />
      <div class="side-by-side">
        <Field
          label={t('Ref')}
          name="ref"
          spellcheck={false}
          defaultValue={git?.ref ?? ''}
          hint={t('A branch, tag or commit')}
        />
        <Field
          label={t('Path')}
          name="path"
          spellcheck={false}
          defaultValue={git?.path ?? ''}
          hint={t('The folder with the app')}
        />
      </div>
      <Field
        label={t('Token')}
        name="token"
        type="password"
        autocomplete="off"
        hint={t('For a private repository. It is sealed, and sent to its host only.')}
      />
    </>
  );
}

export function ImageField({ image }: { image?: string | null }) {
  return (
    <Field
      label={t('Image')}
      name="image"
      required
      spellcheck={false}
      defaultValue={image ?? ''}
      placeholder="docker.io/library/nginx:1.29"
    />
  );
}

export function ArchiveField() {
  return (
    <Field
      label={t('Source')}
      name="source"
      required
      hint={t(
        'A .tar.gz of the app’s folder. With a Dockerfile, or without one for the usual languages.',
      )}
    >
      {(it) => <input {...it} type="file" accept=".tar.gz,.tgz,application/gzip" />}
    </Field>
  );
}

/** The member `git` of the API's body. */
export function gitOf(form: FormData): Readonly<Record<string, string>> {
  const given = ['url', 'ref', 'path', 'token'].map((name) => [name, textIn(form, name)] as const);
  return Object.fromEntries(given.filter(([, text]) => text !== ''));
}

/**
 * Reads an environment of lines `KEY=value`. Empty lines and those that begin with `#` are left out.
 *
 * @throws ApiError that names the line
 */
export function envOf(text: string): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*(#|$)/.test(line)) continue;
    const [, key, value] = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=(.*)$/.exec(line) ?? [];
    if (key === undefined || value === undefined)
      throw new ApiError(400, t('Line {n} of Env is not KEY=value', { n: index + 1 }), null);
    env[key] = unquoted(value.trim());
  }
  return env;
}

/**
 * Double quotes are JSON's, so that a value may have line ends; single quotes keep all as it is.
 */
function unquoted(value: string): string {
  if (!/^".*"$/.test(value)) return /^'(.*)'$/.exec(value)?.[1] ?? value;
  try {
    return JSON.parse(value) as string;
  } catch {
    return value.slice(1, -1);
  }
}

/** Sends an archive, which is built and deployed. The answer comes before the build begins. */
export function uploadSource(
  config: Readonly<Record<string, unknown>>,
  source: File,
): Promise<Deployment> {
  const form = new FormData();
  form.set('config', JSON.stringify(config));
  form.set('source', source);
  return call<Deployment>('POST', '/api/deploy', form);
}
