import { signal } from '@preact/signals';
import { t } from '../messages.ts';
import { CloseButton } from './button.tsx';
import { reachable, waiting } from './connection.ts';
import { failureText } from './use-call.ts';

interface Notice {
  readonly id: number;
  readonly role: 'status' | 'alert';
  readonly text: string;
}

const notices = signal<readonly Notice[]>([]);

/** Milliseconds that a success is shown. A failure stays until it is closed. */
const SHOWN = 6000;
const MOST = 4;
let last = 0;

/**
 * Shows a message that an action was done; screen readers announce it (role `status`).
 *
 * @example notify(t('App created'));
 */
export function notify(text: string): void {
  const id = show('status', text);
  setTimeout(() => close(id), SHOWN);
}

/**
 * Shows that an action failed (role `alert`): the server's message and the id of the request.
 *
 * @example call('POST', path).catch(notifyFailure);
 */
export function notifyFailure(error: unknown): void {
  show('alert', typeof error === 'string' ? error : failureText(error));
}

/**
 * Runs an action, then shows that it is done or why the server refused it.
 *
 * @returns whether it was done
 * @example if (await attempt(() => call('POST', `${app}/stop`), t('Stopped'))) reload();
 */
export async function attempt(act: () => Promise<unknown>, done: string): Promise<boolean> {
  try {
    await act();
  } catch (error) {
    notifyFailure(error);
    return false;
  }
  notify(done);
  return true;
}

function show(role: Notice['role'], text: string): number {
  last += 1;
  notices.value = [...notices.value, { id: last, role, text }].slice(-MOST);
  return last;
}

function close(id: number): void {
  notices.value = notices.value.filter((each) => each.id !== id);
}

/** The component that shows the messages. The frame contains it once. */
export function Notices() {
  return (
    <div class="notices" aria-live="polite">
      {!reachable.value && (
        <p role="status" class="notice busy">
          {t('Reconnecting')}
        </p>
      )}
      {waiting.value > 0 && (
        <p role="status" class="notice busy">
          {t('Too many requests. The page goes on in {n} s.', { n: waiting.value })}
        </p>
      )}
      {notices.value.map(({ id, role, text }) => (
        <div key={id} class={`notice ${role}`}>
          <p role={role}>{text}</p>
          <CloseButton label={t('Close notice')} onClick={() => close(id)} />
        </div>
      ))}
    </div>
  );
}
