import type { MailTexts } from '../kinds.ts';

const UNASKED = ["Si vous n'avez rien demandé, ne faites rien."];
const NOT_YOU = ["Si ce n'était pas vous, réinitialisez votre mot de passe."];
const ACCOUNT = 'Voir mon compte';
const ENDED = [
  'Sessions fermées : {sessions_ended}',
  'Appareils oubliés : {devices_ended}',
  "Clés d'API révoquées : {api_keys_ended}",
  'Fournisseurs dissociés : {identities_ended}',
  "Clés d'accès supprimées : {passkeys_ended}",
];

export const fr: MailTexts = {
  'verify-email': {
    subject: 'Confirmez votre adresse e-mail',
    body: [
      "Confirmez que ceci est l'adresse e-mail de votre compte {app}.",
      "Le nom d'utilisateur {taken_username} est pris : le vôtre est {username}.",
      'Le numéro {taken_phone} appartient à un autre compte : le vôtre n’en a pas.',
    ],
    action: "Confirmer l'adresse",
    after: ['Le lien est valable {hours} heures.', ...UNASKED],
  },
  'change-email': {
    subject: 'Confirmez votre nouvelle adresse e-mail',
    body: ['Confirmez que ceci est la nouvelle adresse e-mail de votre compte {app}.'],
    action: "Confirmer l'adresse",
    after: ['Le lien est valable {hours} heures.', ...UNASKED],
  },
  'email-changed': {
    subject: 'Votre adresse e-mail a été modifiée',
    body: [
      "L'adresse e-mail de votre compte est maintenant {email}.",
      "Si ce n'était pas vous, contactez-nous immédiatement.",
    ],
  },
  'reset-password': {
    subject: 'Réinitialisez votre mot de passe',
    body: ['Suivez ce lien pour choisir un nouveau mot de passe.'],
    action: 'Choisir un nouveau mot de passe',
    after: ['Le lien est valable une fois, pendant {minutes} minutes.', ...UNASKED],
  },
  'password-changed': {
    subject: 'Votre mot de passe a été modifié',
    body: ['Le mot de passe de votre compte a été modifié.', ...ENDED],
    action: 'Réinitialiser le mot de passe',
    after: NOT_YOU,
  },
  'password-changed:reset': {
    subject: 'Votre mot de passe a été réinitialisé',
    body: ['Le mot de passe de votre compte a été réinitialisé.', ...ENDED],
    action: 'Réinitialiser le mot de passe',
    after: NOT_YOU,
  },
  unlock: {
    subject: 'Votre compte est verrouillé',
    body: ['Trop de connexions échouées ont verrouillé votre compte pour un moment.'],
    action: 'Déverrouiller le compte',
    after: ['Le lien est valable une fois, pendant {minutes} minutes.', ...NOT_YOU],
  },
  'new-device': {
    subject: 'Nouvelle connexion à votre compte',
    body: [
      "Quelqu'un s'est connecté à votre compte depuis un appareil inconnu.",
      'Appareil : {device}',
      'Adresse IP : {ip}',
      'Date : {time}',
    ],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'sign-in': {
    subject: 'Connexion à {app}',
    body: ["Votre code est {code}. Saisissez-le là où vous l'avez demandé."],
    action: 'Se connecter',
    after: [
      "Il est valable une fois, pendant {minutes} minutes, et seulement dans le navigateur qui l'a demandé.",
      ...UNASKED,
    ],
  },
  'account-exists': {
    subject: 'Vous avez déjà un compte',
    body: [
      "Quelqu'un, peut-être vous, a voulu s'inscrire avec cette adresse, qui a déjà un compte.",
    ],
    action: 'Se connecter',
    after: ["Si ce n'était pas vous, ne faites rien. Rien n'a été modifié."],
  },
  'account-exists:change-email': {
    subject: 'Vous avez déjà un compte',
    body: [
      "Quelqu'un, peut-être vous, a voulu donner cette adresse à un autre compte, alors qu'elle a déjà un compte. Rien n'a été modifié.",
    ],
    action: 'Se connecter',
  },
  invitation: {
    subject: 'Invitation de {app}',
    body: [
      'Vous êtes invité à rejoindre {organization} comme {role}.',
      '{inviter} vous a invité.',
      'Le lien ouvre une page où vous acceptez ou refusez.',
    ],
    action: "Voir l'invitation",
    after: ['Le lien est valable {days} jours.', 'Si vous ne savez pas pourquoi, ne faites rien.'],
  },
  'account-created': {
    subject: 'Votre compte {app}',
    body: ['Un compte a été créé pour vous. Choisissez son mot de passe pour vous connecter.'],
    action: 'Choisir un mot de passe',
    after: ['Le lien est valable une fois, pendant {hours} heures.'],
  },
  'api-key-added': {
    subject: "Une clé d'API a été créée",
    body: ["Une clé d'API qui agit pour vous a été créée : {name}."],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'api-key-added:replaced': {
    subject: "Une clé d'API a été remplacée",
    body: ["Une clé d'API qui agit pour vous a été remplacée par une nouvelle : {name}."],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'api-key-added:removed': {
    subject: "Une clé d'API a été révoquée",
    body: ["Une clé d'API qui agissait pour vous a été révoquée : {name}."],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'identity-linked': {
    subject: 'Un fournisseur a été associé',
    body: ['Un fournisseur a été associé à votre compte : {provider} permet de se connecter.'],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'identity-linked:removed': {
    subject: 'Un fournisseur a été dissocié',
    body: ['Un fournisseur a été dissocié : {provider} ne permet plus de se connecter.'],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'passkey-added': {
    subject: "Une clé d'accès a été ajoutée",
    body: ["Une clé d'accès a été ajoutée à votre compte : {name}."],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'passkey-added:removed': {
    subject: "Une clé d'accès a été supprimée",
    body: ["Une clé d'accès de votre compte a été supprimée : {name}."],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'passkey-added:cloned': {
    subject: "Une clé d'accès a pu être copiée",
    body: [
      "Quelqu'un a voulu se connecter avec ce qui semble être une copie de votre clé d'accès {name}. La connexion a été refusée. Supprimez la clé et créez-en une nouvelle.",
    ],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'second-factor-changed': {
    subject: 'Un second facteur a été activé',
    body: ["La connexion demande maintenant un code de votre application d'authentification."],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'second-factor-changed:disabled': {
    subject: 'Le second facteur a été désactivé',
    body: ["La connexion ne demande plus de code de votre application d'authentification."],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'second-factor-changed:recovery-codes': {
    subject: 'De nouveaux codes de secours ont été créés',
    body: ['De nouveaux codes de secours ont été créés. Les anciens ne sont plus valables.'],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'second-factor-changed:removed': {
    subject: 'Votre second facteur a été retiré',
    body: [
      "L'administration a retiré le second facteur de votre compte : codes, clés d'accès et appareils mémorisés.",
    ],
    action: ACCOUNT,
    after: ["Si vous ne l'avez pas demandé, contactez-nous immédiatement."],
  },
  'recovery-code-used': {
    subject: 'Un code de secours a été utilisé',
    body: ['Un code de secours a servi à se connecter à votre compte. Codes restants : {left}.'],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'refresh-reuse': {
    subject: 'Une session a été fermée',
    body: [
      "Un jeton d'une de vos sessions a été utilisé deux fois. La session a été fermée, car le jeton a pu être copié.",
    ],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'account-deletion': {
    subject: 'Votre compte sera supprimé',
    body: ["Votre compte {app} sera supprimé le {date}. D'ici là, vous pouvez le garder."],
    action: 'Garder le compte',
    after: ["S'il doit être supprimé, ne faites rien."],
  },
  impersonated: {
    subject: "L'administration s'est connectée à votre place",
    body: [
      "L'administration de {app} s'est connectée à votre compte.",
      'Raison : {reason}',
      'Date : {time}',
    ],
    action: ACCOUNT,
    after: ['Si vous ne vous y attendiez pas, contactez-nous.'],
  },
  alert: {
    subject: 'Alerte de sécurité : {type}',
    body: ['{type} à {time}', 'Adresse IP : {ip}', '{details}'],
  },
};
