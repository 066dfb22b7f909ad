import type { OverlayStrings } from '../strings.ts';

export const strings: OverlayStrings = {
  language: 'he',
  direction: 'rtl',
  advertisement: 'פרסומת',
  watchFor: 'צפו וקבלו {reward}',
  secondsLeft: '{seconds} ש׳',
  rewardOnItsWay: 'הפרס שלכם בדרך',
  close: 'סגירת הפרסומת',
  mute: 'השתקה',
  unmute: 'הפעלת הקול',
  play: 'הקישו להפעלה',
  learnMore: 'למידע נוסף',
  askTitle: 'לסגור ולוותר על הפרס?',
  askText: 'נותרו רק {seconds} ש׳.',
  keepWatching: 'להמשיך לצפות',
  closeAnyway: 'לסגור בכל זאת',
  thanks: 'תודה שצפיתם',
};
