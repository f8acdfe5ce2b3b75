import type { MailTexts } from '../kinds.ts';

const UNASKED = ['Wenn du das nicht angefordert hast, musst du nichts tun.'];
const NOT_YOU = ['Wenn du das nicht warst, setze dein Passwort zurück.'];
const ACCOUNT = 'Konto ansehen';
const ENDED = [
  'Beendete Sitzungen: {sessions_ended}',
  'Vergessene Geräte: {devices_ended}',
  'Beendete API-Schlüssel: {api_keys_ended}',
  'Gelöste Anbieter: {identities_ended}',
  'Entfernte Passkeys: {passkeys_ended}',
];

export const de: MailTexts = {
  'verify-email': {
    subject: 'Bestätige deine E-Mail-Adresse',
    body: [
      'Bestätige, dass dies die E-Mail-Adresse deines Kontos bei {app} ist.',
      'Der Benutzername {taken_username} ist vergeben: deiner ist {username}.',
      'Die Telefonnummer {taken_phone} gehört zu einem anderen Konto: deines hat keine.',
    ],
    action: 'Adresse bestätigen',
    after: ['Der Link gilt {hours} Stunden.', ...UNASKED],
  },
  'change-email': {
    subject: 'Bestätige deine neue E-Mail-Adresse',
    body: ['Bestätige, dass dies die neue E-Mail-Adresse deines Kontos bei {app} ist.'],
    action: 'Adresse bestätigen',
    after: ['Der Link gilt {hours} Stunden.', ...UNASKED],
  },
  'email-changed': {
    subject: 'Deine E-Mail-Adresse wurde geändert',
    body: [
      'Die E-Mail-Adresse deines Kontos wurde in {email} geändert.',
      'Wenn du das nicht warst, melde dich sofort bei uns.',
    ],
  },
  'reset-password': {
    subject: 'Setze dein Passwort zurück',
    body: ['Folge diesem Link, um ein neues Passwort zu wählen.'],
    action: 'Neues Passwort wählen',
    after: ['Der Link gilt einmal und {minutes} Minuten lang.', ...UNASKED],
  },
  'password-changed': {
    subject: 'Dein Passwort wurde geändert',
    body: ['Das Passwort deines Kontos wurde geändert.', ...ENDED],
    action: 'Passwort zurücksetzen',
    after: NOT_YOU,
  },
  'password-changed:reset': {
    subject: 'Dein Passwort wurde zurückgesetzt',
    body: ['Das Passwort deines Kontos wurde zurückgesetzt.', ...ENDED],
    action: 'Passwort zurücksetzen',
    after: NOT_YOU,
  },
  unlock: {
    subject: 'Dein Konto ist gesperrt',
    body: ['Zu viele misslungene Anmeldungen haben dein Konto eine Zeit lang gesperrt.'],
    action: 'Konto entsperren',
    after: ['Der Link gilt einmal und {minutes} Minuten lang.', ...NOT_YOU],
  },
  'new-device': {
    subject: 'Neue Anmeldung an deinem Konto',
    body: [
      'Jemand hat sich von einem bisher unbekannten Gerät an deinem Konto angemeldet.',
      'Gerät: {device}',
      'IP-Adresse: {ip}',
      'Zeit: {time}',
    ],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'sign-in': {
    subject: 'Anmelden bei {app}',
    body: ['Dein Code ist {code}. Gib ihn dort ein, wo du ihn angefordert hast.'],
    action: 'Anmelden',
    after: [
      'Er gilt einmal, {minutes} Minuten lang und nur in dem Browser, der ihn angefordert hat.',
      ...UNASKED,
    ],
  },
  'account-exists': {
    subject: 'Du hast schon ein Konto',
    body: [
      'Jemand, vielleicht du, wollte sich mit dieser Adresse registrieren, zu der es schon ein Konto gibt.',
    ],
    action: 'Anmelden',
    after: ['Wenn du das nicht warst, musst du nichts tun. Es wurde nichts geändert.'],
  },
  'account-exists:change-email': {
    subject: 'Du hast schon ein Konto',
    body: [
      'Jemand, vielleicht du, wollte die Adresse eines anderen Kontos in diese ändern, zu der es schon ein Konto gibt. Es wurde nichts geändert.',
    ],
    action: 'Anmelden',
  },
  invitation: {
    subject: 'Einladung von {app}',
    body: [
      'Du bist eingeladen, {organization} als {role} beizutreten.',
      '{inviter} hat dich eingeladen.',
      'Der Link öffnet eine Seite, auf der du zusagst oder ablehnst.',
    ],
    action: 'Einladung ansehen',
    after: ['Der Link gilt {days} Tage.', 'Wenn du nicht weißt, warum, musst du nichts tun.'],
  },
  'account-created': {
    subject: 'Dein Konto bei {app}',
    body: ['Für dich wurde ein Konto angelegt. Wähle ein Passwort, um dich anzumelden.'],
    action: 'Passwort wählen',
    after: ['Der Link gilt einmal und {hours} Stunden lang.'],
  },
  'api-key-added': {
    subject: 'Ein API-Schlüssel wurde erstellt',
    body: ['Ein API-Schlüssel, der für dich handelt, wurde erstellt: {name}.'],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'api-key-added:replaced': {
    subject: 'Ein API-Schlüssel wurde ersetzt',
    body: ['Ein API-Schlüssel, der für dich handelt, wurde durch einen neuen ersetzt: {name}.'],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'api-key-added:removed': {
    subject: 'Ein API-Schlüssel wurde widerrufen',
    body: ['Ein API-Schlüssel, der für dich gehandelt hat, wurde widerrufen: {name}.'],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'identity-linked': {
    subject: 'Ein Anbieter wurde verknüpft',
    body: [
      'Mit deinem Konto wurde ein Anbieter verknüpft: Du kannst dich mit {provider} anmelden.',
    ],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'identity-linked:removed': {
    subject: 'Ein Anbieter wurde gelöst',
    body: ['Ein Anbieter wurde von deinem Konto gelöst: {provider} meldet dich nicht mehr an.'],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'passkey-added': {
    subject: 'Ein Passkey wurde hinzugefügt',
    body: ['Deinem Konto wurde ein Passkey hinzugefügt: {name}.'],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'passkey-added:removed': {
    subject: 'Ein Passkey wurde entfernt',
    body: ['Von deinem Konto wurde ein Passkey entfernt: {name}.'],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'passkey-added:cloned': {
    subject: 'Ein Passkey kann kopiert worden sein',
    body: [
      'Jemand wollte sich mit etwas anmelden, das wie eine Kopie deines Passkeys {name} aussieht. Das wurde abgelehnt. Entferne den Passkey und erstelle einen neuen.',
    ],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'second-factor-changed': {
    subject: 'Ein zweiter Faktor wurde eingeschaltet',
    body: ['Beim Anmelden wird jetzt ein Code deiner Authenticator-App verlangt.'],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'second-factor-changed:disabled': {
    subject: 'Der zweite Faktor wurde ausgeschaltet',
    body: ['Beim Anmelden wird kein Code deiner Authenticator-App mehr verlangt.'],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'second-factor-changed:recovery-codes': {
    subject: 'Neue Wiederherstellungscodes wurden erstellt',
    body: [
      'Für dein Konto wurden neue Wiederherstellungscodes erstellt. Die alten gelten nicht mehr.',
    ],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'second-factor-changed:removed': {
    subject: 'Dein zweiter Faktor wurde entfernt',
    body: [
      'Die Verwaltung hat den zweiten Faktor deines Kontos entfernt: Codes, Passkeys und gemerkte Geräte.',
    ],
    action: ACCOUNT,
    after: ['Wenn du das nicht verlangt hast, melde dich sofort bei uns.'],
  },
  'recovery-code-used': {
    subject: 'Ein Wiederherstellungscode wurde benutzt',
    body: [
      'Mit einem Wiederherstellungscode hat sich jemand an deinem Konto angemeldet. Übrige Codes: {left}.',
    ],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'refresh-reuse': {
    subject: 'Eine Sitzung wurde beendet',
    body: [
      'Ein Token einer deiner Sitzungen wurde zweimal benutzt. Die Sitzung wurde beendet, denn das Token kann kopiert worden sein.',
    ],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'account-deletion': {
    subject: 'Dein Konto wird gelöscht',
    body: ['Dein Konto bei {app} wird am {date} gelöscht. Bis dahin kannst du es behalten.'],
    action: 'Konto behalten',
    after: ['Wenn es gelöscht werden soll, musst du nichts tun.'],
  },
  impersonated: {
    subject: 'Die Verwaltung hat sich als du angemeldet',
    body: [
      'Die Verwaltung von {app} hat sich an deinem Konto angemeldet.',
      'Grund: {reason}',
      'Zeit: {time}',
    ],
    action: ACCOUNT,
    after: ['Wenn du das nicht erwartet hast, melde dich bei uns.'],
  },
  alert: {
    subject: 'Sicherheitswarnung: {type}',
    body: ['{type} um {time}', 'IP-Adresse: {ip}', '{details}'],
  },
};
