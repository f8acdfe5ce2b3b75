import { useState } from 'preact/hooks';
import { type Sent, sent } from '../call.ts';
import { t } from '../messages.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Icon } from './icons.tsx';
import { notify } from './notices.tsx';

/** The button `Show as curl`: the requests of this page as commands. */
export function CurlButton() {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button class="curl-button plain" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        <Icon>
          <path d="M2.5 4.5L6 8l-3.5 3.5M8 12h5.5" />
        </Icon>
        <span>{t('Show as curl')}</span>
      </Button>
      {open && <CurlDialog requests={sent.value} close={() => setOpen(false)} />}
    </>
  );
}

interface CurlDialogProps {
  readonly requests: readonly Sent[];
  close(): void;
}

function CurlDialog({ requests, close }: CurlDialogProps) {
  const commands = requests.map((each) => curlOf(each, location.origin)).join('\n');
  const copy = async () => {
    await navigator.clipboard.writeText(commands);
    notify(t('Copied'));
  };
  return (
    <Dialog title={t('As curl')} close={close} size="wide">
      <div class="curl">
        <p class="quiet">
          {t('The requests of this page, newest first. Set TOKEN to your access token.')}
          {commands.includes('$VALUE') && ` ${t('Set VALUE to the secret of a request.')}`}
        </p>
        {requests.length === 0 ? (
          <p>{t('This page has made no request.')}</p>
        ) : (
          <pre tabIndex={0}>{commands}</pre>
        )}
        <div class="buttons end">
          <Button class="main" disabled={commands === ''} onClick={copy}>
            {t('Copy')}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

/** Names of values in the bodies of the API that are never shown. */
const SECRET =
  /^(password|(new|old|current)_?password|secret|client_?secret|token|code|recovery_code|ticket|credential|api_?key|private_?key|key|passphrase)$/i;

/** Objects whose every value is a secret. */
const SECRETS = /^(env|environment|secrets|build_args|registry_auth)$/i;

/** Marks a secret until the JSON is written. No text of a user contains these characters. */
const MARK = '\u0000value\u0000';

/** Single quotes keep everything in a POSIX shell, but a single quote itself. */
const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * A request as a command for a POSIX shell, with the token as `$TOKEN` and each secret as `$VALUE`.
 *
 * @example curlOf({ method: 'GET', path: '/api/posts', headers: {} }, 'http://localhost:8080')
 */
function curlOf({ method, path, body, headers }: Sent, origin: string): string {
  const words = ['curl', '-X', method, quote(`${origin}${path}`)];
  if (!Object.keys(headers).some((name) => /^authorization$/i.test(name)))
    words.push('-H', '"Authorization: Bearer $TOKEN"');
  for (const [name, value] of Object.entries(headers)) words.push('-H', headerOf(name, value));
  if (body === undefined) return words.join(' ');
  if (body instanceof FormData) words.push(...partsOf(body));
  else words.push('-H', quote('Content-Type: application/json'), '--data', bodyOf(body, path));
  return words.join(' ');
}

/** The parts of a form: JSON, and the names of files. */
const partsOf = (form: FormData): string[] =>
  [...form].flatMap(([name, value]) => [
    '-F',
    typeof value === 'string'
      ? quote(`${name}=`) + bodyOf(JSON.parse(value), '')
      : quote(`${name}=@${value.name}`),
  ]);

/** Headers that a user has typed may have a credential. */
const headerOf = (name: string, value: string): string =>
  /authorization|cookie|key|token|secret|password/i.test(name)
    ? `${quote(`${name}: `)}"$VALUE"`
    : quote(`${name}: ${value}`);

/**
 * The body for curl. A secret is outside of the single quotes, where the shell inserts its value.
 */
function bodyOf(body: unknown, path: string): string {
  const text = JSON.stringify(masked(body, /\/secrets?\b/.test(path)));
  return quote(text).replaceAll(JSON.stringify(MARK).slice(1, -1), `'"$VALUE"'`);
}

function masked(value: unknown, all: boolean): unknown {
  if (Array.isArray(value)) return value.map((each) => masked(each, all));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, each]) => {
    const secret = SECRET.test(name) || (all && name === 'value');
    if (secret && typeof each === 'string') return [name, MARK];
    if (SECRETS.test(name) && isRecord(each)) return [name, allMasked(each)];
    return [name, masked(each, all)];
  });
  return Object.fromEntries(entries);
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const allMasked = (values: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, value === null ? null : MARK]),
  );
