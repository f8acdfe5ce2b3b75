import type { AuthParts } from '../parts.ts';
import { deleteMe, restore } from './deletion.ts';
import { exportMe } from './export.ts';
import { updateMe } from './profile.ts';
import { showSecurity } from './security.ts';

/** Routes by which users see, change, export and delete their own account. */
export function ownAccountHandlers(parts: AuthParts) {
  return {
    updateMe: updateMe(parts),
    security: showSecurity(parts),
    exportMe: exportMe(parts),
    deleteMe: deleteMe(parts),
    restore: restore(parts),
  };
}
