import type { ButtonStrings } from './button-view.ts';

/** The translated labels. The English labels are part of the button's code. */
const languages: Record<string, ButtonStrings> = {
  ar: {
    ready: 'شاهد إعلانًا',
    loading: 'جارٍ التحميل…',
    showing: 'إعلان',
    cooldown: 'الإعلان التالي بعد {time}',
    unavailable: 'لا يوجد إعلان الآن',
  },
  de: {
    ready: 'Werbung ansehen',
    loading: 'Wird geladen …',
    showing: 'Werbung',
    cooldown: 'Nächste Werbung in {time}',
    unavailable: 'Gerade keine Werbung',
  },
  es: {
    ready: 'Ver un anuncio',
    loading: 'Cargando…',
    showing: 'Publicidad',
    cooldown: 'Próximo anuncio en {time}',
    unavailable: 'No hay anuncios ahora',
  },
  fr: {
    ready: 'Regarder une publicité',
    loading: 'Chargement…',
    showing: 'Publicité',
    cooldown: 'Prochaine publicité dans {time}',
    unavailable: 'Pas de publicité pour le moment',
  },
  he: {
    ready: 'צפייה בפרסומת',
    loading: 'טוען…',
    showing: 'פרסומת',
    cooldown: 'הפרסומת הבאה בעוד {time}',
    unavailable: 'אין פרסומת כרגע',
  },
  id: {
    ready: 'Tonton iklan',
    loading: 'Memuat…',
    showing: 'Iklan',
    cooldown: 'Iklan berikutnya dalam {time}',
    unavailable: 'Belum ada iklan',
  },
  it: {
    ready: 'Guarda un annuncio',
    loading: 'Caricamento…',
    showing: 'Pubblicità',
    cooldown: 'Prossimo annuncio tra {time}',
    unavailable: 'Nessun annuncio al momento',
  },
  ja: {
    ready: '広告を見る',
    loading: '読み込み中…',
    showing: '広告',
    cooldown: '次の広告まで {time}',
    unavailable: '現在、広告はありません',
  },
  ko: {
    ready: '광고 보기',
    loading: '불러오는 중…',
    showing: '광고',
    cooldown: '다음 광고까지 {time}',
    unavailable: '지금은 광고가 없습니다',
  },
  nl: {
    ready: 'Advertentie bekijken',
    loading: 'Laden…',
    showing: 'Advertentie',
    cooldown: 'Volgende advertentie over {time}',
    unavailable: 'Nu geen advertentie',
  },
  pl: {
    ready: 'Obejrzyj reklamę',
    loading: 'Wczytywanie…',
    showing: 'Reklama',
    cooldown: 'Następna reklama za {time}',
    unavailable: 'Teraz brak reklam',
  },
  pt: {
    ready: 'Assistir a um anúncio',
    loading: 'Carregando…',
    showing: 'Publicidade',
    cooldown: 'Próximo anúncio em {time}',
    unavailable: 'Nenhum anúncio agora',
  },
  ru: {
    ready: 'Смотреть рекламу',
    loading: 'Загрузка…',
    showing: 'Реклама',
    cooldown: 'Следующая реклама через {time}',
    unavailable: 'Сейчас рекламы нет',
  },
  tr: {
    ready: 'Reklam izle',
    loading: 'Yükleniyor…',
    showing: 'Reklam',
    cooldown: 'Sonraki reklam: {time}',
    unavailable: 'Şu an reklam yok',
  },
  uk: {
    ready: 'Переглянути рекламу',
    loading: 'Завантаження…',
    showing: 'Реклама',
    cooldown: 'Наступна реклама через {time}',
    unavailable: 'Зараз реклами немає',
  },
  zh: {
    ready: '观看广告',
    loading: '加载中…',
    showing: '广告',
    cooldown: '下一个广告：{time}',
    unavailable: '暂无广告',
  },
};

/** Wraps text in a right-to-left isolate. Otherwise, a canvas would lay it out from left to right. */
const isolate = (text: string): string => `\u2067${text}\u2069`;

/**
 * Returns a locale's labels and a function that prepares them for drawing. Returns `undefined` if there is no
 * translation.
 */
export function getButtonStrings(
  locale: string,
): { language: string; strings: ButtonStrings; prepareText(text: string): string } | undefined {
  // `Intl.Locale` also accepts the deprecated language codes that Java and old browsers use for Hebrew and Indonesian.
  const { language } = new Intl.Locale(locale);
  const strings = Object.hasOwn(languages, language) ? languages[language] : undefined;
  if (!strings) return undefined;
  const prepareText = language === 'ar' || language === 'he' ? isolate : (text: string) => text;
  return { language, strings, prepareText };
}
