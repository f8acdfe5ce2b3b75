import { useEffect, useRef, useState } from 'preact/hooks';
import { call } from '../../call.ts';
import { t } from '../../messages.ts';
import { Field } from '../../parts/field.tsx';
import { failureText } from '../../parts/use-call.ts';
import { type AppProps, routeOf } from './types.ts';
import type { Screen, TerminalEnd } from './terminal-screen.ts';

/** The answer of `POST /api/apps/:name/terminals`. */
interface Ticket {
  readonly id: string;
  readonly ticket: string;
}

type State =
  | { readonly is: 'closed'; readonly text: string }
  | { readonly is: 'connecting' | 'open'; readonly text: string };

const CLOSED: State = { is: 'closed', text: '' };

/** A terminal in a running container. Its code is loaded when it is opened. */
export function TerminalTab({ app }: AppProps) {
  const [state, setState] = useState<State>(CLOSED);
  const place = useRef<HTMLDivElement>(null);
  const screen = useRef<Screen | null>(null);
  const closer = useRef<HTMLButtonElement>(null);
  const close = () => {
    screen.current?.close();
    screen.current = null;
  };
  useEffect(() => close, []);
  const open = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const element = place.current;
    if (!element) return;
    close();
    setState({ is: 'connecting', text: t('Connecting') });
    try {
      const { createScreen } = await import('./terminal-screen.ts');
      const made = createScreen(element, () => closer.current?.focus());
      screen.current = made;
      const path = `${routeOf(app.name)}/terminals`;
      const { id, ticket } = await call<Ticket>('POST', path, {
        ...requestOf(form),
        ...made.size(),
      });
      made.connect(`${path}/${id}`, ticket, {
        onOpen: () => setState({ is: 'open', text: t('Connected') }),
        onEnd: (reason) => setState({ is: 'closed', text: endText(reason) }),
      });
    } catch (error) {
      close();
      setState({ is: 'closed', text: failureText(error) });
    }
  };
  const runs = app.status === 'running';
  return (
    <div class="terminal">
      <form class="terminal-form" onSubmit={(event) => void open(event)}>
        <Field label={t('Command')} name="command" required defaultValue="sh" spellcheck={false} />
        {app.replicas > 1 && (
          <Field
            label={t('Replica')}
            name="replica"
            options={Array.from({ length: app.replicas }, (_, at) => [String(at), String(at)])}
          />
        )}
        <button type="submit" class="main" disabled={!runs || state.is !== 'closed'}>
          {t('Open terminal')}
        </button>
        <button type="button" ref={closer} disabled={state.is === 'closed'} onClick={close}>
          {t('Close terminal')}
        </button>
        <span role="status">{runs ? state.text : t('The app does not run')}</span>
      </form>
      <div class="terminal-place" ref={place} />
      <p class="quiet">{t('Shift+Escape leaves the terminal. What is typed is not recorded.')}</p>
    </div>
  );
}

function requestOf(form: FormData) {
  const command = wordsOf(String(form.get('command')));
  const replica = form.get('replica');
  return { command, ...(replica !== null && { replica: Number(replica) }) };
}

/** Splits a command at spaces outside of quotes. @example wordsOf("sh -c 'ls -l'") // ['sh', '-c', 'ls -l'] */
export const wordsOf = (command: string): string[] =>
  [...command.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, bare]) => single ?? double ?? bare ?? '',
  );

function endText({ exit, code, reason }: TerminalEnd): string {
  if (exit !== undefined)
    return exit === null
      ? t('The command has ended')
      : t('The command ended with {exit}', { exit });
  if (code === 1005 || code === 1000) return t('Closed');
  return reason === '' ? t('The connection was lost. Open the terminal again.') : reason;
}
