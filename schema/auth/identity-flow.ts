import { identityKind } from '../build/identity.ts';

const VERIFIED = /verif|confirm|validat/i;
const LOCKED = /lock/i;
const DELETED = /delet|remov/i;

/**
 * The endpoint that writes an identity column. Findings name it when a mutation must not write the
 * column.
 */
export function identityFlow(name: string): string {
  switch (identityKind(name)) {
    case 'email':
      return 'POST /api/auth/change-email changes it, and the new address proves itself';
    case 'username':
    case 'phone':
      return 'PATCH /api/auth/me changes it';
    case 'last_login':
      return 'a sign-in writes it';
    default:
      if (VERIFIED.test(name)) return 'POST /api/auth/verify-email writes it';
      if (LOCKED.test(name)) return 'POST /api/auth/admin/users/:id/unlock is for that';
      if (DELETED.test(name)) return 'DELETE /api/auth/me is for that';
      return 'POST /api/auth/admin/users/:id/disable and …/enable are for that';
  }
}
