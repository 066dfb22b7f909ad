import type { OverlayStrings } from '../strings.ts';

export const strings: OverlayStrings = {
  language: 'ar',
  direction: 'rtl',
  advertisement: 'إعلان',
  watchFor: 'شاهد لتحصل على {reward}',
  secondsLeft: '{seconds} ث',
  rewardOnItsWay: 'مكافأتك في الطريق',
  close: 'إغلاق الإعلان',
  mute: 'كتم الصوت',
  unmute: 'تشغيل الصوت',
  play: 'انقر للتشغيل',
  learnMore: 'اعرف المزيد',
  askTitle: 'هل تريد الإغلاق وخسارة المكافأة؟',
  askText: 'بقي {seconds} ث فقط.',
  keepWatching: 'متابعة المشاهدة',
  closeAnyway: 'إغلاق على أي حال',
  thanks: 'شكرًا على المشاهدة',
};
