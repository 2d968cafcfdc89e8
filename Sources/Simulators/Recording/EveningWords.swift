/// What people are called and what they write: ordinary texts, and those that trip programs up.
enum EveningWords {
    static let firstNames = [
        "Ada", "Bela", "Chidi", "Dorothea", "Emre", "Freya", "Goro", "Hana", "Imogen", "Jonas", "Kateryna", "Leif",
        "Mirela", "Nadia", "Oskar", "Priya", "Quentin", "Rosa", "Sefa", "Tove", "Uma", "Viggo", "Wanda", "Ximena",
        "Yusuf", "Zora",
    ]
    static let lastNames = [
        "Agfa", "Bromide", "Contax", "Delta", "Ektar", "Fomapan", "Gold", "Holga", "Ilford", "Kentmere", "Leica",
        "Minox", "Neopan", "Orwo", "Portra", "Rollei", "Superia", "Tri-X", "Velvia", "Yashica",
    ]

    /// Emoji, quotes, marks of direction, SQL, escapes, and names that are equal only to the eye.
    static let oddNames = [
        "Ada 🌾📷",
        #"Dorothea "Dot" O'Grain"#,
        #"Robert'); DROP TABLE "_push_tokens";--"#,
        "\u{202e}elttil a lrig\u{202c}",
        "\u{200f}نور الصباح\u{200f}",
        "👩‍👩‍👧‍👦 The Halides",
        "Zo\u{eb}",
        "Zoe\u{308}",
        "<b>Bold</b> & Co.",
        "%s %d $1 ?1 :did {name}",
        #"back\slash \u0041 \"#,
        "Nul\u{0}Byte",
        "two\nlines\tand a tab",
        "日本の粒子 🇯🇵",
        "Z\u{338}a\u{337}l\u{336}g\u{335}o\u{334}",
        "' OR '1'='1",
        "Someone",
        "null",
        "שָׁלוֹם",
        "📷📷📷📷📷📷📷📷📷📷📷📷📷📷📷📷📷📷📷📷📷📷📷📷📷📷📷📷📷📷📷📷📷📷📷📷📷📷📷📷",
        "line\u{2028}separator\u{2029}",
        "\u{feff}bom",
        "𝕯𝖔𝖚𝖇𝖑𝖊 \u{10ffff}",
        "\u{1}\u{1f}\u{7f}\u{80}",
    ]

    static let titles = [
        "Golden hour at the silo", "Harbour fog", "Portra on a rainy day", "Last roll of summer", "Night tram",
        "Wheat, and more wheat", "Grandmother's kitchen", "Contact sheet 7", "Rooftops", "Double exposures",
    ]
    static let oddTitles = [
        "🌾", "Fields \u{0} of nothing", #"SELECT * FROM "social.grain.gallery";"#, "«Été», «été», e\u{301}te\u{301}",
        "</script><!--", "1e309", "true",
    ]

    static let texts = [
        "Lovely grain.", "The light in the third one!", "Which film is this?", "Pushed one stop?",
        "I know that corner.", "Frame four is the one.", "More of these, please.", "Those shadows.",
        "Did you meter for the sky?", "Makes me want to go out and shoot.",
    ]
    static let oddTexts = [
        "so good 😭😭😭", "nul\u{0}in the middle", "\u{0}", "it's \"quoted\" and 'quoted' and `quoted`",
        "'; DELETE FROM _push_queue; --", "\u{202e}txet desrever", "tab\tnew\nline\r\nreturn", #"\u0000 \" \\ \/"#,
        "👨‍👩‍👧‍👦🏳️‍🌈🧑🏿‍🚀", "مرحبا، صورة جميلة", "ﷺ ﷽", "a\u{301}\u{302}\u{303}\u{304}\u{305}", "𐍈 𝄞 \u{e0041}",
    ]
    static let descriptions = [
        "Shot on expired film.", "Three evenings by the water.", "Developed at home, dust included.",
        "Notes to follow.", "All on a camera older than me.",
    ]
}
