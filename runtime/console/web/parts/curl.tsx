import { useRef } from 'preact/hooks';
import { type Sent, sent } from '../call.ts';
import { t } from '../messages.ts';

/** Single quotes keep everything in a POSIX shell, but a single quote itself. */
const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * A request as a command for a shell, with the token as `$TOKEN`.
 *
 * @example curlOf({ method: 'GET', path: '/api/posts', body: undefined }, 'http://localhost:8080')
 */
export function curlOf({ method, path, body }: Sent, origin: string): string {
  const words = ['curl', '-X', method, quote(`${origin}${path}`)];
  words.push('-H', '"Authorization: Bearer $TOKEN"');
  if (body !== undefined)
    words.push(
      '-H',
      quote('Content-Type: application/json'),
      '--data',
      quote(JSON.stringify(body)),
    );
  return words.join(' ');
}

/** The button `Show as curl`: the requests of this page as commands. */
export function CurlButton() {
  const dialog = useRef<HTMLDialogElement>(null);
  const commands = sent.value.map((each) => curlOf(each, location.origin)).join('\n');
  return (
    <>
      <button type="button" onClick={() => dialog.current?.showModal()}>
        {t('Show as curl')}
      </button>
      <dialog ref={dialog} aria-label={t('As curl')}>
        <h2>{t('As curl')}</h2>
        <pre tabIndex={0}>{commands}</pre>
        <div class="buttons">
          <button type="button" onClick={() => void navigator.clipboard.writeText(commands)}>
            {t('Copy')}
          </button>
          <button type="button" onClick={() => dialog.current?.close()}>
            {t('Close')}
          </button>
        </div>
      </dialog>
    </>
  );
}
