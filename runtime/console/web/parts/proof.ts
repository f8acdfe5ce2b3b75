import { signal } from '@preact/signals';

interface IdentityCheck {
  answer(proved: boolean): void;
}

/** The call that waits until the caller has proved who they are; null while none does. */
export const identityCheck = signal<IdentityCheck | null>(null);

let running: Promise<boolean> | null = null;

/**
 * Asks the caller to prove who they are, in the dialog `Confirm it is you`. Calls that ask at once
 * share one dialog.
 *
 * @returns false when they cancel
 */
export function prove(): Promise<boolean> {
  running ??= new Promise<boolean>((answer) => {
    identityCheck.value = { answer };
  }).finally(() => {
    identityCheck.value = null;
    running = null;
  });
  return running;
}
