import { type RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/**
 * Opens a dialog over the page while its component is shown. Then the focus goes back to where it
 * was, or to the page when that control is gone.
 */
export function useModal(): RefObject<HTMLDialogElement | null> {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const opener = document.activeElement;
    const shown = dialog.current;
    shown?.showModal();
    return () => {
      // The browser restores the focus only for a dialog that is closed before it is removed.
      shown?.close();
      giveBack(opener);
    };
  }, []);
  return dialog;
}

function giveBack(opener: Element | null): void {
  const to = opener?.isConnected && opener !== document.body ? opener : mainOfPage();
  if (to instanceof HTMLElement) to.focus({ preventScroll: true });
}

const mainOfPage = () => document.querySelector('dialog[open], main');
