import { t } from '../../messages.ts';
import { Badge } from '../../parts/page.tsx';
import type { User } from './shapes.ts';

/** The state of an account in a word or two. */
export function StateOf({ user }: { user: User }) {
  return (
    <span class="badges">
      {user.deletion_at !== null && <Badge tone="bad">{t('deleted')}</Badge>}
      {user.disabled && <Badge tone="bad">{t('disabled')}</Badge>}
      {user.locked_until !== null && <Badge tone="busy">{t('locked')}</Badge>}
      {!user.disabled && user.deletion_at === null && user.locked_until === null && (
        <Badge tone="good">{t('active')}</Badge>
      )}
      {!user.email_verified && <Badge>{t('unverified')}</Badge>}
    </span>
  );
}
