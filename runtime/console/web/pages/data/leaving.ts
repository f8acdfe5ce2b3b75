import { useEffect } from 'preact/hooks';
import { base, guardLeaving } from '../../address.ts';
import { t } from '../../messages.ts';
import { confirm } from '../../parts/confirm.tsx';
import { discardChanges, unsaved } from './staged.ts';

/** Asks before the user leaves the page with changes that are not saved. */
export function useLeaving(): void {
  useEffect(() => {
    const onUnload = (event: BeforeUnloadEvent) => {
      if (unsaved.value > 0) event.preventDefault();
    };
    addEventListener('beforeunload', onUnload);
    const free = guardLeaving(mayLeave);
    return () => {
      removeEventListener('beforeunload', onUnload);
      free();
    };
  }, []);
}

/**
 * Staged changes stay when the user goes from one type to another, so only other addresses are
 * asked about.
 */
async function mayLeave(to: URL): Promise<boolean> {
  if (unsaved.value === 0 || `${to.pathname}/`.startsWith(`${base}/data/`)) return true;
  const text = t(
    unsaved.value === 1 ? '1 unsaved change will be lost.' : '{n} unsaved changes will be lost.',
    { n: unsaved.value },
  );
  const leaves = await confirm({ text, action: t('Leave') });
  if (leaves) discardChanges();
  return leaves;
}
